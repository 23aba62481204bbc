package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// wave is a kernel bound by latency alone.
type wave struct {
	blocks int
	turn   float64 // ns of a block
}

// blockByBlock schedules single blocks on slots: a free slot takes a block of
// the first kernel that has one. It is what the fluid model approximates.
func blockByBlock(kernels []wave, slots int) (makespan float64) {
	left := make([]int, len(kernels))
	for i, k := range kernels {
		left[i] = k.blocks
	}
	ends := make([]float64, slots)
	for i := range left {
		for ; left[i] > 0; left[i]-- {
			first := 0
			for s := range ends {
				if ends[s] < ends[first] {
					first = s
				}
			}
			ends[first] += kernels[i].turn
			makespan = max(makespan, ends[first])
		}
	}
	return makespan
}

// Kernels of one occupancy, all enqueued at once: the fluid model must be close
// to scheduling block by block, for any mixture of waves and tails.
func TestFluidIsCloseToSchedulingBlockByBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	worst, sum := 0.0, 0.0
	const runs = 500
	for range runs {
		e := demanding(plain())
		var kernels []wave
		longest := 0.0
		for range 1 + r.IntN(12) {
			k := wave{1 + r.IntN(60), float64(10 + r.IntN(200))}
			kernels = append(kernels, k)
			longest = max(longest, k.turn)
			e.Add(Task{Data: kernel(float64(k.blocks), 4, k.turn)})
		}
		got := float64(e.Drain()) / float64(ns)
		want := blockByBlock(kernels, 16)
		assert.InDelta(t, want, got, 1.5*longest, "%v", kernels)
		worst = max(worst, math.Abs(got/want-1))
		sum += math.Abs(got/want - 1)
	}
	t.Logf("worst %.3f, mean %.3f", worst, sum/runs)
	assert.Less(t, sum/runs, 0.03, "mean relative error of the makespan")
	assert.Less(t, worst, 0.25, "worst")
}

// A kernel whose last block finds no slot begins it when another kernel ends, not at the end of its own wave.
func TestABlockBeginsWhenASlotIsFree(t *testing.T) {
	p := plain()
	first := kernel(13, 4, 500) // of 16 slots
	late := kernel(4, 4, 1000)
	got := spans(p, first, late)
	if end := float64(got[1].End) / float64(ns); end < 1000 || end > 1510 {
		t.Errorf("the second kernel ended after %v ns: three of its blocks begin at once, the last after 500 ns", end)
	}
}
