package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// account is the struct of lock.cu.
type account struct {
	Lock  int32
	Count uint32
	Sum   int64
}

func TestSpinLocks(t *testing.T) {
	onEachBuild(t, "lock", func(t *testing.T, g *gpu) {
		for _, kernel := range []string{"lock_inside", "lock_spin"} {
			for _, n := range []int{0, 1, 2, 32, 100, 300} {
				x := make([]int32, n)
				want := account{Count: uint32(n)}
				for i, w := range words(n, 0, 1) {
					x[i] = int32(w)
					want.Sum += int64(x[i])
				}
				a := zeros[account](g, 1)
				g.launch(kernel, line(cover(n, 96), 96), a, up(g, x), int32(n))
				require.Equal(t, want, a.down()[0], "%s, %d threads", kernel, n)
			}
		}
	})
}

// Each thread is served once, in the order in which the tickets were drawn.
func TestTicketLock(t *testing.T) {
	onEachBuild(t, "lock", func(t *testing.T, g *gpu) {
		const blocks, threads = 3, 80
		order := zeros[uint32](g, blocks*threads)
		g.launch("lock_ticket", line(blocks, threads), order)
		got := order.down()
		for b := range blocks {
			seen := map[uint32]bool{}
			for _, id := range got[b*threads : (b+1)*threads] {
				require.Less(t, id, uint32(threads))
				require.False(t, seen[id], "thread %d was served twice", id)
				seen[id] = true
			}
		}
	})
}

func TestLanesWaitForALaneOfTheirWarp(t *testing.T) {
	onEachBuild(t, "lock", func(t *testing.T, g *gpu) {
		out := zeros[int32](g, 32)
		g.launch("flag_in_warp", line(1, 32), zeros[int32](g, 1), zeros[int32](g, 1), out)
		for i, v := range out.down() {
			if i > 0 {
				require.EqualValues(t, 42+i, v, "lane %d", i)
			}
		}
	})
}

func TestListsUnderLocks(t *testing.T) {
	onEachBuild(t, "lock", func(t *testing.T, g *gpu) {
		const n, buckets = 500, 7
		values := make([]int32, n)
		for i, w := range words(n, 1000, 2) {
			values[i] = int32(w)
		}
		type node struct{ Value, Next int32 }
		heads := up(g, []int32{-1, -1, -1, -1, -1, -1, -1})
		nodes := zeros[node](g, n)
		g.launch("push", line(cover(n, 128), 128), nodes, heads, zeros[int32](g, buckets), up(g, values), int32(n), int32(buckets))
		list, met := nodes.down(), 0
		for b, at := range heads.down() {
			for ; at >= 0; at = list[at].Next {
				require.Equal(t, values[at], list[at].Value)
				require.EqualValues(t, b, list[at].Value%buckets)
				met++
				require.LessOrEqual(t, met, n, "the lists must not have cycles")
			}
		}
		require.Equal(t, n, met)
	})
}
