package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestPlansAreForTheDevice expects plans for the given device instead of the default one.
func TestPlansAreForTheDevice(t *testing.T) {
	dev, err := sim.New(sim.Options{Profile: "p100"})
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	in, err := vec.New(dev, Params{Size: vec.Tiny})
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	plan, err := in.Plan(dev, "nimble", graphexec.Graph)
	require.NoError(t, err)
	require.Equal(t, "p100", plan.Schedule.Profile)
}
