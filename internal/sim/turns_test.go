package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device/model"
)

// turnOf times a kernel of turn.ptx on a V100 with changes.
func turnOf(t *testing.T, kernel string, sh shape, change func(*model.Profile), args ...func(*stopwatch) any) float64 {
	p := profile(t, "v100")
	if change != nil {
		change(p)
	}
	s := newStopwatch(t, "turn", p, 0)
	var values []any
	for _, a := range args {
		values = append(values, a(s))
	}
	return s.us(kernel, sh, values...)
}

// Each warp of a block lengthens its turn by WarpLatency, and the block itself by BlockLatency.
func TestTurnsGrowWithBlocksAndWarps(t *testing.T) {
	const turns = 50
	v100 := profile(t, "v100")
	for warps, perSM := range map[int]int{32: 2, 16: 4} {
		sh := line(turns*perSM*v100.SMs, 32*warps)
		base := turnOf(t, "idle", sh, nil)
		more := turnOf(t, "idle", sh, func(p *model.Profile) { p.WarpLatency += 10 * model.Nanosecond })
		assert.InEpsilon(t, turns*float64(warps)*0.010, more-base, 0.1, "%d warps", warps)
		more = turnOf(t, "idle", sh, func(p *model.Profile) { p.BlockLatency += 100 * model.Nanosecond })
		assert.InEpsilon(t, turns*0.100, more-base, 0.1, "%d warps", warps)
	}
}

// A barrier takes four cycles for each warp that the multiprocessor holds, of this block or of another.
func TestBarriersGrowWithTheWarpsPresent(t *testing.T) {
	v100 := profile(t, "v100")
	us := func(blocks, warps int) float64 { return turnOf(t, "meet", line(blocks, 32*warps), nil) }
	one := us(v100.SMs, 1)
	for _, c := range []struct{ blocks, warps, present int }{{v100.SMs, 8, 8}, {v100.SMs, 32, 32}, {2 * v100.SMs, 32, 64}, {4 * v100.SMs, 8, 32}, {1, 32, 32}} {
		cycles := (us(c.blocks, c.warps) - one) * v100.ClockMHz / 100 // of a barrier
		start := float64(v100.WarpLatency) / 1e6 * v100.ClockMHz / 100 * float64(c.warps-1)
		assert.InEpsilon(t, 4*float64(c.present-1), cycles-start, 0.15, "%+v", c)
	}
}

// The blocks that a multiprocessor holds share its L1. Blocks that would fit and are not there take none of it.
func TestBlocksPresentShareL1(t *testing.T) {
	const kib = 1 << 10
	v100 := profile(t, "v100")
	us := func(perSM int) float64 {
		blocks := perSM * v100.SMs
		return turnOf(t, "sweep", line(blocks, 32), nil, func(s *stopwatch) any { return room[int32](s, blocks*32*kib/4) })
	}
	alone, two, eight := us(1), us(2), us(8) // 32, 64 and 256 KiB of 128
	assert.InEpsilon(t, alone, two, 0.1)
	assert.Greater(t, eight, 2*alone)
}
