package shares

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
)

// spinner replays the kernels of traces on a device by kernels that run for a given time.
type spinner struct {
	dev     device.Device
	stream  device.Stream
	data    device.Ptr // spinBytes
	kernels map[spinKey]*spinKernel
	modules []device.Module
	lines   map[spinShape]line
	counts  map[timedShape]uint32
}

// spinKey selects the code of a spin kernel.
type spinKey struct {
	memory       bool
	fine         bool // an iteration is one operation of a thread, for launches of so many threads that more take too long
	accumulators uint32
}

// spinShape is a spin kernel with a grid and a block.
type spinShape struct {
	key                     spinKey
	blocks, threads, shared uint32
}

// spinKernel is a loaded spin kernel, and its rewritten form that runs a range of the blocks.
type spinKernel struct {
	whole device.Function
	part  *ranged
}

// spinBytes is the size of the memory that spin kernels read, a power of two. It exceeds the L2 cache of all devices, so
// that the reads go to DRAM.
const spinBytes = 512 << 20

func newSpinner(dev device.Device) (_ *spinner, err error) {
	s := &spinner{dev: dev, kernels: map[spinKey]*spinKernel{}, lines: map[spinShape]line{}, counts: map[timedShape]uint32{}}
	if s.data, err = dev.Alloc(spinBytes); err != nil {
		return nil, err
	}
	if s.stream, err = dev.CreateStream(0); err != nil {
		return nil, device.Join(err, dev.Free(s.data))
	}
	return s, nil
}

func (s *spinner) close() error {
	errs := []error{s.dev.DestroyStream(s.stream), s.dev.Free(s.data)}
	for _, m := range s.modules {
		errs = append(errs, s.dev.UnloadModule(m))
	}
	return device.Join(errs...)
}

// The registers of a spin kernel are its accumulators and these.
const spinRegisters = 14

// Bounds of the accumulators: enough independent additions to keep the units busy with one warp for each scheduler, and
// few enough that the registers fit.
const (
	minAccumulators = 8
	maxAccumulators = maxRegisters - 2*spinRegisters
)

// op returns the launch that replays a kernel of a trace.
func (s *spinner) op(k *Kernel) (o op, err error) {
	shape := s.shape(k)
	spin, err := s.kernel(shape.key)
	if err != nil {
		return o, err
	}
	count, err := s.count(shape, k.Time)
	if err != nil {
		return o, err
	}
	return op{work: s.launch(shape, spin.whole, k.Name, count), part: spin.part, bound: k.Bound}, nil
}

// shape completes what the trace leaves open. Unknown blocks fill the device once.
func (s *spinner) shape(k *Kernel) spinShape {
	shape := spinShape{spinKey{memory: k.Bound == sharing.Memory, accumulators: minAccumulators}, k.Blocks, k.Threads, k.Shared}
	if k.Registers > spinRegisters {
		shape.key.accumulators = min(maxAccumulators, max(minAccumulators, (k.Registers-spinRegisters+3)/8*8))
	}
	if shape.threads == 0 {
		shape.threads = 128
	}
	if shape.blocks == 0 {
		shape.blocks = uint32(s.dev.Info().Multiprocessors)
		if m := model.Of(s.dev); m != nil {
			perSM, _ := m.Limits.Occupancy(int(shape.threads), int(k.Registers), int(k.Shared))
			shape.blocks *= uint32(max(1, perSM))
		}
	}
	waves := float64(shape.blocks) * float64(shape.threads) / float64(2048*s.dev.Info().Multiprocessors)
	shape.key.fine = micros(k.Time) < waves*fineMicros
	return shape
}

// fineMicros is the time below which threads that fill the device run fine iterations, in us: some 50 coarse ones.
const fineMicros = 60

func (s *spinner) launch(shape spinShape, f device.Function, label string, count uint32) *device.Launch {
	params := binary.LittleEndian.AppendUint64(nil, uint64(s.data))
	params = binary.LittleEndian.AppendUint32(params, count)
	return &device.Launch{
		Function: f, Grid: device.Dim3{X: shape.blocks, Y: 1, Z: 1}, Block: device.Dim3{X: shape.threads, Y: 1, Z: 1},
		Shared: shape.shared, Params: params, Label: label,
	}
}

// kernel returns a loaded spin kernel.
func (s *spinner) kernel(key spinKey) (*spinKernel, error) {
	if k := s.kernels[key]; k != nil {
		return k, nil
	}
	text := spinPTX(key)
	k := &spinKernel{}
	m, err := s.dev.LoadModule("spin.ptx", text)
	if err != nil {
		return nil, err
	}
	s.modules = append(s.modules, m)
	if k.whole, err = s.dev.Function(m, "spin"); err != nil {
		return nil, err
	}
	parsed, err := ptx.Parse("spin.ptx", text)
	if err != nil {
		return nil, err
	}
	if k.part, m, err = loadRange(s.dev, parsed, "spin", 1); err != nil {
		return nil, err
	}
	s.modules = append(s.modules, m)
	s.kernels[key] = k
	return k, nil
}

// loadRange loads the form of a kernel that runs a range of its blocks.
func loadRange(dev device.Device, source *ptx.Module, kernel string, dims int) (*ranged, device.Module, error) {
	result, err := rewrite.Range(source, kernel, dims)
	if err != nil {
		return nil, 0, err
	}
	m, err := dev.LoadModule(result.Module.File, result.Text)
	if err != nil {
		return nil, 0, err
	}
	f, err := dev.Function(m, result.Kernel)
	return &ranged{function: f, result: result}, m, err
}

// Counts of iterations between which the slope is measured first.
const (
	fewIterations  = 16
	manyIterations = 1024
)

// Calibration ends when the time is that close, or after that many measurements.
const (
	spinTolerance   = 0.01
	maxCalibrations = 12
)

// count returns the count of iterations for a time. It narrows an interval by its secant: the time grows with the count,
// piecewise linearly.
func (s *spinner) count(shape spinShape, want time.Duration) (uint32, error) {
	if n, ok := s.counts[timedShape{shape, want}]; ok {
		return n, nil
	}
	l, err := s.line(shape)
	if err != nil {
		return 0, err
	}
	low, high := point{0, time.Duration(l.base)}, point{}
	n, best, off := l.count(want), uint32(1), math.Inf(1)
	for range maxCalibrations {
		took, err := s.timed(shape, n)
		if err != nil {
			return 0, err
		}
		if d := math.Abs(float64(want - took)); d < off {
			best, off = n, d
		}
		if off <= spinTolerance*float64(want) {
			break
		}
		if took < want {
			low = point{n, took}
		} else {
			high = point{n, took}
		}
		next := between(low, high, want)
		if next <= low.count || next == n || high.count != 0 && next >= high.count {
			break
		}
		n = next
	}
	s.counts[timedShape{shape, want}] = best
	return best, nil
}

// between returns the count at which the line through two points reaches a time. Without an upper point it doubles the
// lower.
func between(low, high point, want time.Duration) uint32 {
	if high.count == 0 {
		return clampCount(2 * float64(low.count))
	}
	share := float64(want-low.took) / max(1, float64(high.took-low.took))
	n := float64(low.count) + min(max(share, 0.05), 0.95)*float64(high.count-low.count)
	return min(max(clampCount(n), low.count+1), max(high.count, 2)-1)
}

// timedShape is a shape that runs for a time.
type timedShape struct {
	spinShape
	time time.Duration
}

// point is a measurement.
type point struct {
	count uint32
	took  time.Duration
}

// line is the time of a shape by its count: base + count*slope, in ns.
type line struct{ base, slope float64 }

func (l line) count(d time.Duration) uint32 { return clampCount((float64(d) - l.base) / l.slope) }

func clampCount(n float64) uint32 { return uint32(min(max(n+0.5, 1), 1<<30)) }

// line measures a shape at two counts.
func (s *spinner) line(shape spinShape) (line, error) {
	if l, ok := s.lines[shape]; ok {
		return l, nil
	}
	few, err := s.timed(shape, fewIterations)
	if err != nil {
		return line{}, err
	}
	many, err := s.timed(shape, manyIterations)
	if err != nil {
		return line{}, err
	}
	l := line{slope: max(float64(many-few), 1) / (manyIterations - fewIterations)}
	l.base = float64(few) - fewIterations*l.slope
	s.lines[shape] = l
	return l, nil
}

func (s *spinner) timed(shape spinShape, count uint32) (time.Duration, error) {
	w := s.launch(shape, s.kernels[shape.key].whole, "calibration", count)
	return local.Timed(s.dev, s.stream, func() error { return s.dev.Submit(s.stream, w) })
}

// spinPTX returns the source of a spin kernel. Each iteration does eight multiply-adds, or four loads of 16 bytes; a fine one
// does one, of 4 bytes. Accumulators give the kernel its registers. They are stored only if they have a sum that they
// never have.
func spinPTX(key spinKey) string {
	var b strings.Builder
	b.WriteString(`.version 6.0
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 data, .param .u32 count)
{
	.reg .pred %p<3>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<12>;
	.reg .f32 %f<24>;
`)
	n := int(key.accumulators)
	fmt.Fprintf(&b, "\t.reg .f32 %%a<%d>;\n", n)
	b.WriteString(`	ld.param.u64 %rd0, [data];
	ld.param.u32 %r0, [count];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mov.u32 %r5, %nctaid.x;
	mul.lo.u32 %r6, %r5, %r2;
	cvt.rn.f32.u32 %f0, %r3;
	mov.f32 %f1, 0f3F7FFFFE;
`)
	for i := range n {
		fmt.Fprintf(&b, "\tadd.f32 %%a%d, %%f0, 0f3F%06X;\n", i, 0x800000+i)
	}
	width, loads := 4, 4
	if key.fine {
		width, loads = 1, 1
	}
	if key.memory {
		fmt.Fprintf(&b, "\tmul.lo.u32 %%r4, %%r4, %d;\n\tmul.lo.u32 %%r6, %%r6, %d;\n", 4*width, 4*width)
	}
	b.WriteString("\tmov.u32 %r7, 0;\nagain:\n")
	switch {
	case key.memory:
		writeLoads(&b, width, loads)
	case key.fine:
		writeFMA(&b, 0)
	default:
		for i := range minAccumulators {
			writeFMA(&b, i)
		}
	}
	b.WriteString("\tadd.u32 %r7, %r7, 1;\n\tsetp.lt.u32 %p0, %r7, %r0;\n\t@%p0 bra again;\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "\tadd.f32 %%a0, %%a0, %%a%d;\n", i)
	}
	b.WriteString("\tsetp.lt.f32 %p1, %a0, 0fFF000000;\n\t@%p1 st.global.f32 [%rd0], %a0;\n\tret;\n}\n")
	return b.String()
}

// writeLoads writes loads of words, for each thread and in a row, and adds them to the accumulators. The loads of an
// iteration are in flight together.
func writeLoads(b *strings.Builder, width, loads int) {
	for i := range loads {
		fmt.Fprintf(b, "\tand.b32 %%r8, %%r4, %d;\n\tcvt.u64.u32 %%rd1, %%r8;\n\tadd.s64 %%rd%d, %%rd0, %%rd1;\n\tadd.u32 %%r4, %%r4, %%r6;\n", spinBytes-4*width, 2+i)
	}
	for i := range loads {
		if width == 1 {
			fmt.Fprintf(b, "\tld.global.f32 %%f4, [%%rd%d];\n", 2+i)
			continue
		}
		fmt.Fprintf(b, "\tld.global.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd%d];\n", 4+4*i, 5+4*i, 6+4*i, 7+4*i, 2+i)
	}
	for i := range width * loads {
		fmt.Fprintf(b, "\tadd.f32 %%a%d, %%a%d, %%f%d;\n", i%minAccumulators, i%minAccumulators, 4+i)
	}
}

// writeFMA writes a multiply-add of an accumulator.
func writeFMA(b *strings.Builder, i int) {
	fmt.Fprintf(b, "\tfma.rn.f32 %%a%d, %%a%d, %%f1, %%f0;\n", i, i)
}
