//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/tenancy/tenancytest"
)

// Random programs for random tenants leave the bytes of separate runs.
func TestTenants(t *testing.T) {
	for seed := range uint64(25) {
		d := open(t)
		require.NoError(t, tenancytest.Case(d, seed), "seed %d", seed)
		require.NoError(t, d.Close())
	}
}
