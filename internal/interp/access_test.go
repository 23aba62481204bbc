package interp

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// moveWords has a kernel that loads x[at[i]] and stores it to y[to[i]], for the threads that on[i] names.
const moveWords = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry move(.param .u64 x, .param .u64 at, .param .u64 y, .param .u64 to, .param .u64 on)
{
	.reg .b64 %rd<12>;
	.reg .b32 %r<8>;
	.reg .pred %p;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r1, 32, %r2;
	mul.wide.u32 %rd1, %r3, 4;
	ld.param.u64 %rd2, [on];
	add.s64 %rd2, %rd2, %rd1;
	ld.global.u32 %r4, [%rd2];
	setp.ne.u32 %p, %r4, 0;
	ld.param.u64 %rd3, [at];
	add.s64 %rd3, %rd3, %rd1;
	ld.global.u32 %r5, [%rd3];
	mul.wide.u32 %rd4, %r5, 4;
	ld.param.u64 %rd5, [x];
	add.s64 %rd5, %rd5, %rd4;
	@%p ld.global.u32 %r6, [%rd5];
	ld.param.u64 %rd6, [to];
	add.s64 %rd6, %rd6, %rd1;
	ld.global.u32 %r7, [%rd6];
	mul.wide.u32 %rd7, %r7, 4;
	ld.param.u64 %rd8, [y];
	add.s64 %rd8, %rd8, %rd7;
	@%p st.global.u32 [%rd8], %r6;
	ret;
}
`

// laneIndices is the indices of 32 lanes below n: rows, repetitions, strides and
// jumps, of random lengths.
func laneIndices(r *rand.Rand, n int) []uint32 {
	var v []uint32
	for len(v) < lanes {
		step := []int{1, 1, 0, 2, -1, 7}[r.IntN(6)]
		for at, k := r.IntN(n), 1+r.IntN(lanes); k > 0 && len(v) < lanes; k-- {
			v = append(v, uint32(((at%n)+n)%n))
			at += step
		}
	}
	return v
}

// Accesses of any pattern move the words that they name, in the order of lanes
// and blocks, and touch as many sectors as there are.
func TestAccessPatterns(t *testing.T) {
	const words, blocks = 200, 8
	r := rand.New(rand.NewPCG(1, 3))
	d := open(t, "move.ptx", moveWords)
	for round := range 200 {
		var x, at, to, on []uint32
		for i := range words {
			x = append(x, uint32(1000+i))
		}
		for range blocks {
			at, to = append(at, laneIndices(r, words)...), append(to, laneIndices(r, words)...)
			density := r.IntN(4)
			for range lanes {
				on = append(on, min(1, uint32(density+r.IntN(2))))
			}
		}
		want := make([]uint32, words)
		var read, written int64
		for b := range blocks {
			touched := [5]map[uint32]bool{{}, {}, {}, {}, {}}
			for i := b * lanes; i < (b+1)*lanes; i++ {
				for k := range 3 { // at, to and on
					touched[k][uint32(i)/8] = true
				}
				if on[i] == 1 {
					want[to[i]] = x[at[i]]
					touched[3][at[i]/8], touched[4][to[i]/8] = true, true
				}
			}
			read += int64(len(touched[0]) + len(touched[1]) + len(touched[2]) + len(touched[3]))
			written += int64(len(touched[4]))
		}
		for _, workers := range []int{1, 3} {
			y := buffer(d, "y", make([]uint32, words))
			s := d.run("move", Launch{Grid: dims(blocks, 1, 1), Block: dims(lanes, 1, 1), Workers: workers,
				Params: params(buffer(d, "x", x), buffer(d, "at", at), y, buffer(d, "to", to), buffer(d, "on", on))})
			require.Equal(t, want, contents[uint32](d, y), "round %d, %d workers", round, workers)
			require.Equal(t, [2]int64{read, written}, [2]int64{s.SectorsRead, s.SectorsWrite}, "round %d, %d workers", round, workers)
		}
	}
}
