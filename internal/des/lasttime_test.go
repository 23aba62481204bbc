package des

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// TestLongPhasesTakeTheirTime runs a kernel, and copies one after the other, of about ten days.
func TestLongPhasesTakeTheirTime(t *testing.T) {
	const days = 10 * 24 * 3600 * model.Second
	for _, d := range []model.Demand{
		kernel(4, 1, 10*24*3600*1e9),
		{Kind: model.CopyIn, Bytes: 10 * 24 * 3600 * 10e9},
		{Kind: model.Fixed, Duration: days},
	} {
		e := demanding(plain())
		first := e.Add(Task{Data: d})
		e.Add(Task{Data: d, Deps: []TaskID{first}})
		assert.InEpsilon(t, float64(2*days), float64(e.Drain()), 1e-9, "%v", d.Kind)
	}
}

// TestTimeEnds runs tasks that would end after the last time, alone, together, in chains, and in line for one place.
func TestTimeEnds(t *testing.T) {
	huge := []model.Demand{
		kernel(1<<60, 1, 1e12),
		kernel(1, 1, 1e18),
		{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 1, SlowestCycles: 1e18, Bytes: 1e18},
		{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 1, Bulk: 1e18},
		{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 1, Faulted: 1e18},
		{Kind: model.CopyIn, Bytes: 1e18}, {Kind: model.CopyIn, Bytes: 1e18}, {Kind: model.CopyOut, Bytes: 1e18}, {Kind: model.CopyOn, Bytes: 1e18},
		{Kind: model.Fixed, Duration: math.MaxInt64}, {Kind: model.Host, Duration: LastTime}, {Kind: model.Host, Duration: LastTime}, {Kind: model.Marker},
	}
	for _, chained := range []bool{false, true} {
		for _, kernels := range []int{1, 128} {
			p := plain()
			p.MaxKernels, p.ClockMHz = kernels, 1
			p.LinkGBps, p.MemoryGBps, p.FaultGBps = leastPositive, leastPositive, leastPositive
			p.KernelRamp = model.Second
			e, ended := demanding(p), 0
			e.OnEnd(func(r *Record) {
				assert.LessOrEqual(t, r.Span.End, LastTime)
				ended++
			})
			var deps []TaskID
			for range 3 {
				for _, d := range huge {
					id := e.Add(Task{Data: d, Deps: deps, Gap: model.Microsecond})
					if chained {
						deps = []TaskID{id}
					}
				}
			}
			last, ok := e.TryReach(e.Mark())
			require.True(t, ok)
			assert.Equal(t, LastTime, last)
			assert.Equal(t, 3*len(huge), ended)
			e.Add(Task{Arrival: LastTime + 1, Data: huge[0]})
			assert.Equal(t, LastTime, e.Drain())
		}
	}
}

func TestTimesAddUpToTheLast(t *testing.T) {
	for _, c := range [][3]model.Time{{1, 2, 3}, {LastTime, 0, LastTime}, {LastTime, LastTime, LastTime}, {math.MaxInt64, math.MaxInt64, LastTime}, {LastTime - 1, 1, LastTime}, {5, LastTime - 6, LastTime - 1}} {
		assert.Equal(t, c[2], Plus(c[0], c[1]))
	}
}
