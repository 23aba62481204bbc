package sim_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/sim"
)

func ExampleNew() {
	dev, err := sim.New(sim.Options{Profile: "a100"})
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	fmt.Println(dev.Info().Name)

	_, err = sim.New(sim.Options{Profile: "a1000"})
	fmt.Println(err)
	// Output:
	// NVIDIA A100-SXM4-80GB
	// sim: no device profile is called "a1000" (did you mean "a100"?); known profiles: h200, a100, v100, p100, gtx1660s, gtx960; from data sheets: a100-40, a40, gtx1650, h100-pcie, l40, rtx2080ti, rtx3060, rtx3060ti, rtx3090, rtx4070, rtx4090, titanv, titanx, v100-pcie; or the path of a file that ends in .json
}

// Two copies to the same bytes that no event orders are a race. The error names both.
func ExampleRaceError() {
	dev, err := sim.New(sim.Options{Race: true})
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	if err := fillTwice(dev); err != nil {
		var race *sim.RaceError
		if errors.As(err, &race) {
			fmt.Println(race.Findings[0].Kind, len(race.Findings[0].Accesses))
		}
	}
	// Output: race 2
}

func TestOptionsArePassedOn(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	require.NoError(t, fillTwice(dev), "races are reported where asked for")
	require.NoError(t, dev.Close())

	p, err := profiles.Lookup("v100")
	require.NoError(t, err)
	custom := *p
	custom.SMs = -1
	none, err := sim.New(sim.Options{Custom: &custom})
	require.ErrorIs(t, err, model.ErrProfile)
	assert.True(t, none == nil, "no device beside an error")

	dev, err = sim.New(sim.Options{Memory: 1 << 20})
	require.NoError(t, err)
	_, err = dev.Alloc(1 << 21)
	require.Error(t, err)
	require.NoError(t, dev.Close())
}
