package ir_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// use is an access to one byte of the arena.
type use struct {
	op     ir.OpID
	buffer ir.BufferID
	mode   ir.Mode
}

// arenaBytes lists the uses of every byte of the arena in submission order.
func arenaBytes(s *ir.Schedule) map[int64][]use {
	bytes := make(map[int64][]use)
	for _, v := range s.Order {
		for _, a := range s.Graph.Ops[v].Accesses(new([2]ir.Access)) {
			for at := a.Lo; s.Offset[a.Buffer] >= 0 && at < a.Hi; at++ {
				byteAt := s.Offset[a.Buffer] + at
				bytes[byteAt] = append(bytes[byteAt], use{v, a.Buffer, a.Mode})
			}
		}
	}
	return bytes
}

// badArena reports whether the plan is invalid. It checks byte by byte.
func badArena(s *ir.Schedule) bool {
	m := scheduleReach(s)
	for _, uses := range arenaBytes(s) {
		owner, next := ir.BufferID(-1), ir.BufferID(-1)
		for i, u := range uses {
			if i > 0 && uses[i-1].op != u.op {
				owner = next // an operation reads before it writes
			}
			for j, w := range uses {
				conflict := u.mode.Writes() || w.mode.Writes()
				switch {
				case j < i && u.op != w.op && conflict && !m[u.op][w.op]:
					return true // unordered
				case u.op == w.op && u.buffer != w.buffer && conflict:
					return true // an operation has no order within
				}
			}
			if u.mode.Reads() && owner >= 0 && owner != u.buffer {
				return true // overwritten before
			}
			if u.mode.Writes() {
				next = u.buffer
			}
		}
	}
	return false
}

// About half of the random plans are invalid, and the verifier reports exactly those.
func TestVerifyScheduleAgreesWithBytesOfTheArena(t *testing.T) {
	wrong := 0
	const seeds = 1500
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 11))
		g := irtest.Random(r, 2+r.IntN(14))
		for b := range g.Buffers {
			g.Buffers[b].Role, g.Buffers[b].Place = ir.Temporary, ir.Place{}
		}
		g = irtest.Analyze(g)
		s := irtest.Schedule(r, g, 2)
		s.Offset = make([]int64, len(g.Buffers))
		for b := range s.Offset {
			s.Offset[b] = r.Int64N(900) - 1
		}
		bad := badArena(s)
		if bad {
			wrong++
		}
		require.Equal(t, bad, ir.VerifySchedule(s) != nil, "seed %d: %v\n%s", seed, ir.VerifySchedule(s), ir.Format(g, s))
	}
	require.Greater(t, wrong, seeds/10)
	require.Less(t, wrong, seeds*9/10)
}
