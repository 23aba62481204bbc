//go:build unix

package sim_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// speedCases are what `make bench-sim` times. An argument that is floats is a
// buffer of so many.
var speedCases = []struct {
	name, file, kernel string
	shape              shape
	args               []any
}{
	{"saxpy", "map", "saxpy", line(1<<20/256, 256), []any{float32(2), floats(1 << 20), floats(1 << 20), int32(1 << 20)}},
	{"stencil-5-points", "map", "five_points", plane(1024/32, 1024/8, 32, 8), []any{floats(1 << 20), floats(1 << 20), int32(1024), int32(1024)}},
	{"stencil-in-shared", "stencil", "star2d", plane(1024/32, 1024/8, 32, 8), []any{floats(1 << 20), floats(1 << 20), int32(1024), int32(1024)}},
	{"sgemm-tiled", "gemm", "sgemm", plane(16, 16, 16, 16),
		[]any{int32(256), int32(256), int32(256), float32(1), floats(1 << 16), floats(1 << 16), float32(0), floats(1 << 16)}},
	{"sgemm-in-registers", "gemm", "sgemm_registers", plane(4, 4, 256, 1),
		[]any{int32(256), int32(256), int32(256), float32(1), floats(1 << 16), floats(1 << 16), float32(0), floats(1 << 16)}},
	{"reduction", "reduce", "sum_blocks_f32", line(256, 256), []any{floats(1 << 20), floats(1 << 20), int32(1 << 20)}},
	{"small", "map", "saxpy", line(1, 256), []any{float32(2), floats(256), floats(256), int32(256)}},
}

// floats is a buffer, by its number of elements.
type floats int

// speedLaunch is one of speedCases on memory that up fills.
func speedLaunch(b *testing.B, tree *ptx.Module, kernel string, args []any, up func(data []byte) uint64) []byte {
	g := &gpu{t: b, tree: tree}
	placed := make([]any, len(args))
	for i, a := range args {
		placed[i] = a
		if n, ok := a.(floats); ok {
			placed[i] = up(bytesOf(random[float32](int(n), uint64(i))))
		}
	}
	return g.params(kernel, placed)
}

// BenchmarkSim times kernels as the interpreter runs them, and as a program sees
// them that launches one and waits, with every launch interpreted.
func BenchmarkSim(b *testing.B) {
	defer sim.Unobserved()()
	for _, c := range speedCases {
		text, err := os.ReadFile("testdata/kernels/" + c.file + ".ptx")
		require.NoError(b, err)
		tree, err := ptx.Parse(c.file, string(text))
		require.NoError(b, err)

		memory := interp.NewMemory(1 << 30)
		module, err := interp.LoadModule(memory, tree)
		require.NoError(b, err)
		kernel, err := module.Kernel(c.kernel)
		require.NoError(b, err)
		l := interp.Launch{Grid: extents(c.shape.grid), Block: extents(c.shape.block), Shared: c.shape.shared}
		l.Params = speedLaunch(b, tree, c.kernel, c.args, func(data []byte) uint64 {
			p, err := memory.Alloc(int64(len(data)), "buffer")
			require.NoError(b, err)
			at, err := memory.Bytes(p, int64(len(data)))
			require.NoError(b, err)
			copy(at, data)
			return p
		})
		stats, fault := kernel.Run(memory, l)
		if fault != nil {
			b.Fatal(fault)
		}
		b.Run("interp/"+c.name, func(b *testing.B) {
			timeLaunches(b, stats.LaneInsts, func() error {
				if _, fault := kernel.Run(memory, l); fault != nil {
					return fault
				}
				return nil
			})
		})

		d, err := sim.New(sim.Options{Memo: sim.MemoOff})
		require.NoError(b, err)
		m, err := d.LoadModule(c.file, string(text))
		require.NoError(b, err)
		f, err := d.Function(m, c.kernel)
		require.NoError(b, err)
		s, err := d.CreateStream(0)
		require.NoError(b, err)
		w := &device.Launch{Function: f, Grid: c.shape.grid, Block: c.shape.block, Shared: c.shape.shared}
		w.Params = speedLaunch(b, tree, c.kernel, c.args, func(data []byte) uint64 {
			p, err := d.Alloc(int64(len(data)))
			require.NoError(b, err)
			require.NoError(b, d.Write(p, data))
			return uint64(p)
		})
		b.Run("device/"+c.name, func(b *testing.B) {
			timeLaunches(b, stats.LaneInsts, func() error {
				if err := d.Submit(s, w); err != nil {
					return err
				}
				return d.Synchronize(s)
			})
		})
	}
}

// timeLaunches reports executed instructions of lanes per second, and per second
// of processor time: what one core does, whatever else the machine is doing.
func timeLaunches(b *testing.B, laneInsts int64, launch func() error) {
	for range 8 { // make room
		require.NoError(b, launch())
	}
	b.ReportAllocs()
	before := processorTime()
	for b.Loop() {
		if err := launch(); err != nil {
			b.Fatal(err)
		}
	}
	used := processorTime() - before
	insts := float64(laneInsts) * float64(b.N) / 1e6
	b.ReportMetric(insts/b.Elapsed().Seconds(), "Mlane-insts/s")
	b.ReportMetric(insts/used.Seconds(), "Mlane-insts/s/core")
	b.ReportMetric(used.Seconds()/b.Elapsed().Seconds(), "cores")
}

// processorTime is what the process has used so far, on all cores.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func extents(d device.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }
