package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var planes = []struct{ nx, ny int }{{1, 1}, {1, 40}, {33, 9}, {32, 8}, {100, 37}}

func TestStar2D(t *testing.T) {
	// The centre, then left, right, above and below at each distance.
	weights := []float32{0.25, 0.5, -0.125, 0.375, 0.0625, -0.75, 0.03125, 1.5, -1}
	onEachBuild(t, "stencil", func(t *testing.T, g *gpu) {
		for _, p := range planes {
			in, out := random[float32](p.nx*p.ny, 1), zeros[float32](g, p.nx*p.ny)
			variable(g, "weights", weights)
			g.launch("star2d", plane(cover(p.nx, 32), cover(p.ny, 8), 32, 8), up(g, in), out, int32(p.nx), int32(p.ny))
			at := func(x, y int) float64 {
				x, y = min(max(x, 0), p.nx-1), min(max(y, 0), p.ny-1)
				return float64(in[y*p.nx+x])
			}
			want := make([]float64, len(in))
			for i := range want {
				x, y := i%p.nx, i/p.nx
				want[i] = float64(weights[0]) * at(x, y)
				for r := 1; r <= 2; r++ {
					w := doubles(weights[4*r-3:])
					want[i] += w[0]*at(x-r, y) + w[1]*at(x+r, y) + w[2]*at(x, y-r) + w[3]*at(x, y+r)
				}
			}
			within(t, want, out.down(), always(9*0x1p-24*5), "%v", p)
		}
	})
}

func TestHeat3D(t *testing.T) {
	onEachBuild(t, "stencil", func(t *testing.T, g *gpu) {
		for _, c := range []struct{ nx, ny, nz int }{{1, 1, 1}, {3, 3, 3}, {40, 11, 2}, {33, 17, 6}} {
			in := random[float64](c.nx*c.ny*c.nz, 2)
			out := zeros[float64](g, len(in))
			g.launch("heat3d", plane(cover(c.nx, 32), cover(c.ny, 8), 32, 8), up(g, in), out, int32(c.nx), int32(c.ny), int32(c.nz), 0.1)
			want := make([]float64, len(in))
			for i := range want {
				x, y, z := i%c.nx, i/c.nx%c.ny, i/(c.nx*c.ny)
				want[i] = in[i]
				if x == 0 || y == 0 || z == 0 || x == c.nx-1 || y == c.ny-1 || z == c.nz-1 {
					continue
				}
				slab := c.nx * c.ny
				want[i] += 0.1 * (in[i-1] + in[i+1] + in[i-c.nx] + in[i+c.nx] + in[i-slab] + in[i+slab] - 6*in[i])
			}
			within(t, want, out.down(), always(0x1p-53*20), "%v", c)
		}
	})
}

func TestLife(t *testing.T) {
	g := load(t, "stencil")
	for _, p := range planes {
		cells := bytesOf(words((p.nx*p.ny+3)/4, 0, 3))[:p.nx*p.ny]
		for i := range cells {
			cells[i] &= 1
		}
		now, next := up(g, cells), zeros[byte](g, len(cells))
		for range 4 {
			g.launch("life", plane(cover(p.nx, 16), cover(p.ny, 16), 16, 16), now, next, int32(p.nx), int32(p.ny))
			now, next = next, now
			cells = generation(cells, p.nx, p.ny)
		}
		require.Equal(t, cells, now.down(), "%v", p)
	}
}

func generation(cells []byte, nx, ny int) []byte {
	next := make([]byte, len(cells))
	for y := range ny {
		for x := range nx {
			n := -int(cells[y*nx+x])
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					n += int(cells[(y+dy+ny)%ny*nx+(x+dx+nx)%nx])
				}
			}
			if n == 3 || n == 2 && cells[y*nx+x] == 1 {
				next[y*nx+x] = 1
			}
		}
	}
	return next
}

func TestTranspose(t *testing.T) {
	g := load(t, "stencil")
	for _, p := range planes {
		in, out := random[float32](p.nx*p.ny, 4), zeros[float32](g, p.nx*p.ny)
		g.launch("transpose", plane(cover(p.nx, 32), cover(p.ny, 32), 32, 8), up(g, in), out, int32(p.nx), int32(p.ny))
		want := make([]float32, len(in))
		for i, v := range in {
			want[i%p.nx*p.ny+i/p.nx] = v
		}
		require.Equal(t, want, out.down(), "%v", p)
	}
}
