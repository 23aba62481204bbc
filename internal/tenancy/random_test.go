package tenancy_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/tenancy/tenancytest"
)

var cases = flag.Int("cases", 100, "number of random programs")

// Random programs for random tenants leave the bytes of separate runs, and no unordered accesses.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(*cases) {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		require.NoError(t, tenancytest.Case(dev, seed), "seed %d", seed)
		require.NoError(t, dev.Close())
	}
}
