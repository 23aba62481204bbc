package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// No run of kernels is shorter than any resource is busy, nor, without priorities, than those that
// fill the device take one behind the other. Where all do, it is little longer.
func TestNoRunIsShorterThanItsResourcesAreBusy(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 70))
	p := profiles.All()[0]
	decided := 0
	for round := range 1500 {
		e, busy := demanding(p), NewBusy(p)
		at := model.Time(0)
		for range 2 + r.IntN(7) {
			d := randomKernel(r)
			if round%2 == 0 { // nothing to share but slots, few blocks or many, and a driver to wait for
				d = model.Demand{Kind: model.Kernel, PerSM: float64(1 + 2*r.IntN(2)), BlockCycles: 2e4 * r.Float64()}
				d.Blocks = math.Ceil([]float64{0.3, 0.9, 1, 1, 1.1, 2}[r.IntN(6)] * float64(p.SMs) * d.PerSM)
				d.Faulted = float64(r.IntN(2) * (1 + r.IntN(1<<16)))
			}
			at += model.Time(r.IntN(30)) * model.Microsecond * model.Time(r.IntN(2))
			e.Add(Task{Arrival: at, Data: d})
			busy.Add(d)
		}
		took := e.Drain() + 100 // of rounding to picoseconds
		require.GreaterOrEqual(t, took, busy.Most())
		require.GreaterOrEqual(t, took, busy.Filled())
		if busy.Filled() > busy.Most() {
			decided++
		}
	}
	assert.Greater(t, decided, 200)
}

// No task takes less than its least time, in whatever company; some kernels take less than alone.
func TestNoTaskTakesLessThanItsLeastTime(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 71))
	p := profiles.All()[0]
	quicker, near := 0, 0
	for range 400 {
		demands := make([]model.Demand, 12)
		e := demanding(p)
		for i := range demands {
			if demands[i] = anyDemand(r); i%2 == 0 {
				demands[i] = randomKernel(r)
			}
			e.Add(Task{Arrival: model.Time(r.IntN(30)) * model.Microsecond, Data: demands[i]})
		}
		spans := make([]model.Time, len(demands))
		e.OnEnd(func(record *Record) { spans[record.ID] = record.Span.End - record.Start })
		e.Drain()
		for i, took := range spans {
			least := LeastTime(p, demands[i])
			require.LessOrEqual(t, least, took+2, "%+v", demands[i]) // of rounding to picoseconds
			one := demanding(p)
			one.Add(Task{Data: demands[i]})
			alone := one.Drain()
			require.LessOrEqual(t, least, alone+2, "%+v", demands[i])
			if took < alone {
				quicker++
			}
			if 10*least > 9*alone {
				near++
			}
		}
	}
	assert.Greater(t, quicker, 2)
	assert.Greater(t, near, 400*12/2, "the bound is of little use")
}

// Ten kernels that fill the device and fault a page each wait for it one after the other.
func TestKernelsThatFillTheDeviceFaultOneByOne(t *testing.T) {
	p := profiles.All()[0]
	e, busy := demanding(p), NewBusy(p)
	for range 10 {
		d := model.Demand{Kind: model.Kernel, Blocks: 1056, PerSM: 6, BlockCycles: 285, Faulted: 64 << 10}
		e.Add(Task{Data: d})
		busy.Add(d)
	}
	took := float64(e.Drain())
	assert.Greater(t, took, float64(10*p.FaultLatency))
	assert.InEpsilon(t, took, float64(busy.Filled()), 0.02)
	assert.Less(t, 5*busy.Most(), busy.Filled())
}
