package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

func TestGridBarrier(t *testing.T) {
	g := load(t, "blocks")
	const threads, steps = 64, 5
	for _, blocks := range []int{1, 2, 37, 400} {
		n := blocks*threads - 5
		want, next := make([]int32, n), make([]int32, n)
		for i := range want {
			want[i] = int32(i % 97)
		}
		a, b := up(g, want), zeros[int32](g, n)
		for s := range steps {
			for i := range next {
				next[i] = want[i] + want[(i+n/2)%n] + int32(s)
			}
			want, next = next, want
		}
		g.launch("grid_steps", line(blocks, threads).together(), a, b, int32(n), int32(steps))
		require.Equal(t, want, b.down(), "%d blocks", blocks)
	}
}

func TestGridBarrierNeedsACooperativeLaunch(t *testing.T) {
	g := load(t, "blocks")
	a, b := zeros[int32](g, 64), zeros[int32](g, 64)
	err := g.fails("grid_steps", line(2, 32), a, b, int32(64), int32(1))
	require.Equal(t, device.LaunchFailed, device.CodeOf(err))
	require.ErrorContains(t, err, "trap")
}

func TestCooperativeGridMustFit(t *testing.T) {
	g := load(t, "blocks")
	a := zeros[int32](g, 64)
	f, err := g.Function(g.module, "grid_steps")
	require.NoError(t, err)
	// 1024 threads: two blocks on each of 132 multiprocessors.
	l := &device.Launch{Function: f, Grid: line(264, 1).grid, Block: line(1, 1024).block, Cooperative: true,
		Params: g.params("grid_steps", []any{a, a, int32(64), int32(0)})}
	require.NoError(t, g.Submit(g.stream, l))
	l.Grid.X++
	err = g.Submit(g.stream, l)
	require.Equal(t, device.CooperativeTooLarge, device.CodeOf(err))
	require.EqualError(t, err, "Submit: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (720): kernel grid_steps: "+
		"a cooperative launch of 265 blocks; 264 fit on the device together, 2 on each of 132 multiprocessors")
	require.NoError(t, g.Synchronize(g.stream))
}

// A scan whose blocks wait for those before them, and in reverse for those that
// begin after them.
func TestLookBack(t *testing.T) {
	g := load(t, "blocks")
	for _, kernel := range []string{"scan_volatile", "scan_cached", "scan_acquire"} {
		for _, n := range []int{1, 256, 5000, 100_000} {
			for reverse := range int32(2) {
				in := make([]int32, n)
				want, sum := make([]int32, n), int32(0)
				for i, w := range words(n, 1000, 7) {
					in[i] = int32(w) - 500
					sum += in[i]
					want[i] = sum
				}
				tiles := cover(n, 256)
				out := zeros[int32](g, n)
				g.launch(kernel, line(tiles, 256), up(g, in), out, zeros[uint64](g, tiles), int32(n), reverse)
				require.Equal(t, want, out.down(), "%s of %d, reverse %d", kernel, n, reverse)
			}
		}
	}
}

func TestBlocksTakeTurns(t *testing.T) {
	g := load(t, "blocks")
	const blocks = 50
	order := zeros[int32](g, blocks)
	g.launch("turns", line(blocks, 64), zeros[int32](g, 1), up(g, []int32{blocks - 1}), order, zeros[int32](g, 1))
	want := make([]int32, blocks)
	for i := range want {
		want[i] = int32(blocks - 1 - i)
	}
	require.Equal(t, want, order.down())
}

func TestBlocksThatWaitForEver(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(g *gpu) error
		want string
	}{
		{"a flag that nobody sets",
			func(g *gpu) error { return g.fails("never", line(3, 32), zeros[int32](g, 1)) },
			`thread \(0,0,0\), blocks.ptx:843: the thread polls 0x[0-9a-f]*00000200, which holds 0x0 and which nothing changes, while 2 more blocks wait too`},
		// 32 blocks fit on each multiprocessor; the first ten wait for the last ten.
		{"blocks that cannot begin",
			func(g *gpu) error {
				const blocks = 132*32 + 10
				return g.fails("turns", line(blocks, 1), zeros[int32](g, 1), up(g, []int32{blocks - 1}), zeros[int32](g, blocks), zeros[int32](g, 1))
			},
			"nothing changes, while 4223 more blocks wait too; 10 blocks cannot begin before one ends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.run(load(t, "blocks"))
			require.Equal(t, device.LaunchTimeout, device.CodeOf(err))
			require.Regexp(t, c.want, err.Error())
		})
	}
}
