package sim_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// staged are kernels that hand data from thread to thread in shared memory, with a
// launch that needs each of their barriers; spare is how many barriers of the
// compiled code that launch could do without, and why.
var staged = []struct {
	file, kernel string
	spare        int
	why          string
	run          func(g *gpu)
}{
	{"gemm", "sgemm", 0, "", func(g *gpu) {
		x := random[float32](48*48, 1)
		g.launch("sgemm", plane(3, 3, 16, 16), int32(48), int32(48), int32(48), float32(1), up(g, x), up(g, x), float32(0), zeros[float32](g, 48*48))
	}},
	{"stencil", "star2d", 0, "", func(g *gpu) {
		g.launch("star2d", plane(1, 2, 32, 8), up(g, random[float32](512, 1)), zeros[float32](g, 512), int32(32), int32(16))
	}},
	{"stencil", "transpose", 0, "", func(g *gpu) {
		g.launch("transpose", plane(1, 1, 32, 8), up(g, random[float32](1024, 1)), zeros[float32](g, 1024), int32(32), int32(32))
	}},
	{"reduce", "sum_blocks_f32", 0, "", func(g *gpu) {
		g.launch("sum_blocks_f32", line(1, 128), up(g, random[float32](128, 1)), zeros[float32](g, 1), int32(128))
	}},
	{"scan", "scan_blocks_u32", 0, "", func(g *gpu) {
		g.launch("scan_blocks_u32", line(1, 128), up(g, words(128, 0, 1)), zeros[uint32](g, 128), zeros[uint32](g, 1), int32(128))
	}},
	{"scan", "scan_blelloch", 0, "", func(g *gpu) {
		s := line(1, 128)
		s.shared = 4 * (256 + 8)
		g.launch("scan_blelloch", s, up(g, make([]int32, 256)), zeros[int32](g, 256), int32(256))
	}},
	{"histogram", "histogram256", 0, "", func(g *gpu) {
		g.launch("histogram256", line(1, 256), up(g, bytesOf(words(256, 0, 1))), zeros[uint32](g, 256), int32(1024))
	}},
	{"fft", "fft_block", 1, "in the last stage a thread writes what it reads after it", func(g *gpu) {
		s := line(1, 128)
		s.shared = 8 * 256
		g.launch("fft_block", s, up(g, random[float32](512, 1)), zeros[float32](g, 512), int32(8), float32(1))
	}},
	{"async.sm80", "row_sums", 1, "nothing is copied after the last tile", func(g *gpu) {
		g.launch("row_sums", line(1, 32), up(g, random[float32](9*128, 1)), zeros[float32](g, 1), int32(9))
	}},
	{"nbody", "nbody", 0, "", func(g *gpu) {
		s := line(2, 64)
		s.shared = 16 * 64
		g.launch("nbody", s, up(g, random[float32](4*128, 1)), zeros[float32](g, 4*128), int32(128), float32(0.1))
	}},
}

// Each barrier is taken out of the PTX in turn. Right bytes would not show it: blocks run
// here warp by warp, so that many a race has one outcome.
func TestEveryMissingBarrierIsFound(t *testing.T) {
	for _, k := range staged {
		t.Run(k.kernel, func(t *testing.T) {
			text, err := os.ReadFile("testdata/kernels/" + k.file + ".ptx")
			require.NoError(t, err)
			start := strings.Index(string(text), ".entry "+k.kernel+"(")
			end := start + strings.Index(string(text)[start:], "\n}\n")
			barriers := regexp.MustCompile(`bar\.(warp\.)?sync`).FindAllIndex(text[start:end], -1)
			require.NotEmpty(t, barriers)
			missed := 0
			for i, at := range barriers {
				without := string(text[:start+at[0]]) + "// " + string(text[start+at[0]:])
				g := loadFaulty(t, sim.Options{Race: sim.RaceOn}, k.file+".ptx", without)
				k.run(g)
				_ = g.SynchronizeAll() // the findings are asked for below
				found := false
				for _, f := range g.Findings() {
					found = found || f.Kind == sim.SharedRace
				}
				if !found {
					missed++
					t.Logf("barrier %d of %d", i+1, len(barriers))
				}
			}
			assert.Equal(t, k.spare, missed, k.why)
		})
	}
}

// A shuffle that reads lanes which take no part gives 0, as GPUs do, and a warning,
// since nothing promises it.
func TestUndefinedShuffle(t *testing.T) {
	text, err := os.ReadFile("testdata/kernels/reduce.ptx")
	require.NoError(t, err)
	g := loadFaulty(t, sim.Options{Race: sim.RaceOn}, "reduce.ptx", string(text))
	x, out := ints(32, 100, 1), zeros[int32](g, 1)
	g.launch("sum_of_eight", line(1, 32), up(g, x), out)
	require.Equal(t, total(x[:8]), out.down()[0])
	findings := g.Findings()
	require.NotEmpty(t, findings)
	for _, f := range findings {
		require.True(t, f.Warning)
		require.Equal(t, sim.UndefinedShuffle, f.Kind)
	}
	first := findings[0]
	first.Accesses[0].Places = nil // lines of the PTX
	require.Equal(t, `undefined shuffle (warning): the value of lane 16, which does not execute the shuffle
  sum_of_eight, stream 1, reads, block (0,0,0), thread (0,0,0)
  it is undefined, and 0 on GPUs so far: let that lane take part and name it in the member mask, or do not use the result`, first.String())
}
