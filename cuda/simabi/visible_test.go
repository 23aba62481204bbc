//go:build cuda && cgo

package simabi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// slots creates GPUs and returns the slots of the visible ones.
func slots(t *testing.T, gpus, visible string) []int {
	t.Helper()
	t.Setenv("REPRISE_SIM", gpus)
	t.Setenv("CUDA_VISIBLE_DEVICES", visible)
	plugged, err := plug()
	if err != nil {
		require.EqualError(t, err, "CUDA_VISIBLE_DEVICES="+visible+" leaves none of the GPUs of REPRISE_SIM="+gpus+" visible")
	}
	var slots []int
	for i, g := range plugged {
		require.Equal(t, i, g.ordinal)
		slots = append(slots, g.slot)
	}
	return slots
}

func TestVisibleDevices(t *testing.T) {
	const gpus = "h200,a100,v100,h200"
	t.Setenv("REPRISE_SIM", gpus)
	all, err := plug()
	require.NoError(t, err)
	first, last := all[0].uuidText(), all[3].uuidText()
	for visible, want := range map[string][]int{
		"0":                        {0},
		"2, 0":                     {2, 0},
		"3,2,1,0":                  {3, 2, 1, 0},
		"0,2,-1,1":                 {0, 2},
		"1,4,0":                    {1},
		"1gpu2,2ampere":            {1, 2},
		"":                         nil,
		"-1":                       nil,
		"none":                     nil,
		"4":                        nil,
		"0,0":                      nil,
		"0,1,0":                    nil,
		"99999999999999999999":     nil,
		first:                      {0},
		last + "," + first:         {3, 0},
		last[:12]:                  {3},
		last + ",0":                {3},
		"0," + last:                {0},
		first + "," + first[:12]:   nil,
		"GPU-":                     nil,
		"GPU-ffffffff-ffff":        nil,
		first + ",GPU-zzz," + last: {0},
	} {
		require.Equal(t, want, slots(t, gpus, visible), visible)
	}
}

func TestVisibleDevicesKeepBusAndUUID(t *testing.T) {
	t.Setenv("REPRISE_SIM", "h200,a100")
	all, err := plug()
	require.NoError(t, err)
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	one, err := plug()
	require.NoError(t, err)
	require.Len(t, one, 1)
	require.Equal(t, all[1].uuid(), one[0].uuid())
	require.Equal(t, all[1].bus(), one[0].bus())
	require.Equal(t, "NVIDIA A100-SXM4-80GB", one[0].profile.Name)
}
