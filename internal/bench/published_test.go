package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestFaultingKernelsTakeAsLongAsPublished compares serial times without prefetches with those of the GrCUDA
// evaluation (A. Parravicini et al., IPDPS 2021), at a sixteenth of its sizes, because times are proportional to
// sizes. On one of the devices, B&S spends as much time in page faults as in computation; VEC spends all of its time
// in faults.
func TestFaultingKernelsTakeAsLongAsPublished(t *testing.T) {
	const part = 16
	for _, c := range []struct {
		w       *Workload
		profile string
		size    int
		ms      float64
	}{
		{bs, "gtx1660s", 8e6, 264},
		{bs, "gtx1660s", 12e6, 368},
		{bs, "p100", 8e6, 138},
		{bs, "p100", 12e6, 218},
		{vec, "gtx1660s", 120e6, 221},
		{vec, "p100", 80e6, 132},
		{vec, "p100", 120e6, 202},
	} {
		records, err := Run(context.Background(), Config{
			Open: func() (device.Device, error) {
				return sim.New(sim.Options{Profile: c.profile, Sample: 8})
			},
			Workloads: []*Workload{c.w}, Sizes: []int{c.size / part}, Memory: Managed, Threads: 256, Sample: 8,
			Strategies: []string{serial}, Backends: []graphexec.Backend{graphexec.Streams}, Iterations: 4,
		})
		require.NoError(t, err)
		assert.InEpsilon(t, c.ms/part*1e3, records[0].ReplayUS, 0.1, "%s of %d on %s", c.w.Name, c.size, c.profile)
	}
}
