package des

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// TestSharesAddUpToTheWork integrates the reported shares over time and compares the sums with the demands of the tasks.
func TestSharesAddUpToTheWork(t *testing.T) {
	p := anH200(t)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		e := demanding(&p)
		demands := map[TaskID]model.Demand{}
		for range 8 {
			d := model.Demand{Kind: []model.DemandKind{model.Kernel, model.CopyIn, model.CopyOut, model.CopyOn}[r.IntN(4)], Bytes: float64(1000 + r.IntN(1<<22))}
			if d.Kind == model.Kernel {
				d.Blocks, d.PerSM, d.BlockCycles = float64(1+r.IntN(3000)), float64(1+r.IntN(8)), float64(100+r.IntN(5000))
			}
			demands[e.Add(Task{Arrival: model.Time(r.IntN(20)) * model.Microsecond, Data: d})] = d
		}
		sums := map[TaskID]*Share{}
		var last []Share
		var at model.Time
		e.OnShare(func(now model.Time, all []Share) {
			require.GreaterOrEqual(t, now, at)
			for _, s := range last {
				sum := sums[s.Task]
				if sum == nil {
					sum = &Share{}
					sums[s.Task] = sum
				}
				dt := float64(now-at) / float64(model.Second)
				sum.DRAM, sum.LinkIn, sum.LinkOut = sum.DRAM+s.DRAM*dt, sum.LinkIn+s.LinkIn*dt, sum.LinkOut+s.LinkOut*dt
			}
			at, last = now, append(last[:0], all...)
			slots := 0.0
			for _, s := range all {
				require.GreaterOrEqual(t, s.Blocks, 0.0)
				if d := demands[s.Task]; d.Kind == model.Kernel {
					slots += s.Blocks / (float64(p.SMs) * d.PerSM)
				}
			}
			require.LessOrEqual(t, slots, 1+1e-6)
		})
		e.Drain()
		assert.Empty(t, last, "nothing runs at the end")
		for id, d := range demands {
			assert.InEpsilon(t, d.Bytes, sums[id].DRAM, 1e-3, "seed %d, %+v", seed, d)
			switch d.Kind {
			case model.CopyIn:
				assert.InEpsilon(t, d.Bytes, sums[id].LinkIn, 1e-3)
			case model.CopyOut:
				assert.InEpsilon(t, d.Bytes, sums[id].LinkOut, 1e-3)
			}
		}
	}
}
