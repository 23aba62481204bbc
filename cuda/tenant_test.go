//go:build cuda && cgo

package cuda

import (
	goflag "flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/tenancy/tenancytest"
)

var tenantCases = goflag.Uint64("tenants", 25, "number of random programs for tenants")

// Random programs for random tenants leave the bytes of separate runs.
func TestTenants(t *testing.T) {
	for seed := range *tenantCases {
		d := open(t)
		require.NoError(t, tenancytest.Case(d, seed), "seed %d", seed)
		require.NoError(t, d.Close())
	}
}
