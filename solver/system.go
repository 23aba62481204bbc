package solver

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/internal/kernels"
	"github.com/reprise-gpu/reprise/solver/sparse"
	"github.com/reprise-gpu/reprise/tracer"
)

// Vector is device memory for the elements of a vector, or for a scalar.
type Vector = tracer.Buffer

// System is a system of equations on the device, for methods. Its methods that allocate may be called in
// Method.Trace, those that compute in the function that Trace returns. As with a Tracer, the first error is kept and
// disables later calls. A method that breaks the rules gets a MethodError.
type System struct {
	N        int       // the number of unknowns; read-only
	X        Vector    // the solution, initially the initial guess; only Trace may replace it
	Residual []float64 // b - Ax of the initial guess, on the host
	// Inverse is the inverse of the diagonal for a method that applies the preconditioner itself; nil without one.
	Inverse []float64
	// Running is a scalar: 1 before the last iteration, 0 from it on. Only Trace may replace it.
	Running Vector
	// Period is the number of iterations that a call of the function from Method.Trace issues; 0 means 1. Only Trace
	// may set it.
	Period int

	*shared
	elem ir.Type

	loads  []content // written before the first iteration
	method string
	script script
	last   int // the greatest code of the state at which kept memory is still written, see kernels/kept.cu

	p       *problem
	restart int // iterations per cycle of GMRES
	damping float64
	a       matrix
	lanes   int // threads per row

	solution func(iterations int) Vector // the buffer with the solution after n iterations
	partials map[Vector]Vector           // by sum: the partial sums of the blocks of Dot
	err      error                       // of a method that does not apply to this system, or that is invalid

	state   Vector // see kernels/state.cuh
	limits  Vector
	history Vector
}

// content is the initial contents of a buffer.
type content struct {
	of    Vector
	bytes func() []byte
}

// shared holds what all systems of a run have in common.
type shared struct {
	t        *tracer.Tracer
	memory   memory
	devices  int // that share each launch; 0 without Options.Devices
	modules  map[string]*tracer.Module
	kernels  map[string]*tracer.Kernel
	states   Vector // the states of all systems, one after another
	matrices []loadedMatrix
}

// loadedMatrix is a matrix that a system has loaded under a name.
type loadedMatrix struct {
	name string
	host *sparse.CSR
	matrix
}

func newShared(t *tracer.Tracer, devices, systems int) *shared {
	return &shared{
		t: t, memory: oneDevice{}, devices: devices, modules: map[string]*tracer.Module{}, kernels: map[string]*tracer.Kernel{},
		states: t.Alloc("state", ir.I32, int64(systems*stateLen), ir.InOut),
	}
}

// matrix is a CSR matrix on the device.
type matrix struct {
	ptr, col, val Vector
	band          []any // arguments that bound its indices, of kernels that several devices share
}

// matrix loads a matrix. Systems whose matrices of one name are equal use one copy.
func (s *System) matrix(name string, m *sparse.CSR) matrix {
	s.t.Helper()
	for _, o := range s.matrices {
		if o.name == name && (o.host == m || equal(o.host, m)) {
			return o.matrix
		}
	}
	loaded := matrix{
		load(s, name+"_ptr", ir.I32, ir.Constant, m.Ptr),
		load(s, name+"_col", ir.I32, ir.Constant, m.Col),
		s.floats(name+"_val", ir.Constant, m.Val),
		nil,
	}
	if s.devices > 0 {
		loaded.band = bandOf(m).arguments()
	}
	s.matrices = append(s.matrices, loadedMatrix{name, m, loaded})
	return loaded
}

// equal reports whether two matrices have the same elements.
func equal(a, b *sparse.CSR) bool {
	return slices.Equal(a.Ptr, b.Ptr) && slices.Equal(a.Col, b.Col) && slices.Equal(a.Val, b.Val)
}

// Indices of the numbers of the state.
const (
	stateCode = iota
	stateIterations
	stateMost
	stateNorm // the square of a norm, as the bits of a float32
	stateLen
)

// state is the state of a system, see kernels/state.cuh.
type state [stateLen]int32

// Values of stateCode.
const (
	running = iota
	converged
	exhausted
	diverged
	notFinite
	brokenDown
	stagnant
)

// newSystem allocates what all methods need for system number i of a run.
func newSystem(p *problem, o *Options, common *shared, i int) *System {
	s := &System{
		shared: common, method: o.Method.Name, last: running,
		N: p.a.Rows, Residual: p.residual, p: p,
		elem: o.Precision.elem(), lanes: o.Lanes, restart: o.Restart, damping: o.Damping, partials: map[Vector]Vector{},
	}
	if o.Sampled {
		s.last = math.MaxInt32
	}
	for _, name := range []string{"spmv", "vector", "scalar"} {
		s.use(name)
	}
	if !p.columns {
		s.Inverse = p.inverse
	}
	if s.lanes == 0 {
		s.lanes = lanesFor(len(p.a.Val), s.N)
	}
	s.err = s.fits()
	s.solution = func(int) Vector { return s.script.fields.x }
	s.a = s.matrix("a", p.a)
	s.X = s.Vector("x", p.x0)
	s.Running = s.Scalar("running", 1)
	s.state = s.states.Slice(int64(i*stateLen), int64((i+1)*stateLen))
	s.loads = append(s.loads, content{s.state, func() []byte {
		return bytesOf([]int32{stateMost: int32(o.MaxIterations), stateNorm: 0})
	}})
	square := func(x float64) float64 { return x * p.norm * (x * p.norm) }
	limits := []float64{square(o.Tolerance), square(o.Divergence)}
	if p.steps {
		limits[0] = -1
	}
	s.limits = s.floats("limits", ir.Constant, limits)
	s.history = s.t.Alloc("history", s.elem, int64(o.MaxIterations), ir.InOut)
	return s
}

// use loads a module if it is not loaded yet. That must happen before times are measured.
func (s *System) use(module string) {
	if s.modules[module] != nil {
		return
	}
	s.modules[module] = s.t.Module(kernels.Source(s.build(module), s.elem))
}

// lanesFor selects the number of threads per row so that each handles two or three elements. On the simulated H200
// an iteration of CG is then within 6 % of the fastest, for rows of 5 and of 40 elements, in systems of all sizes. With one
// thread per row, the product of 4096 rows of 40 elements takes 4.9 times as long.
func lanesFor(entries, rows int) int {
	lanes := 1
	for lanes < 32 && entries >= 3*lanes*rows {
		lanes *= 2
	}
	return lanes
}

// load allocates a buffer with the given initial content.
func load[T tracer.Element](s *System, name string, elem ir.Type, role ir.Role, data []T) Vector {
	s.t.Helper()
	b := s.t.Alloc(name, elem, int64(len(data)), role)
	s.loads = append(s.loads, content{b, func() []byte { return bytesOf(data) }})
	return b
}

// bytesOf returns numbers as they are in device memory.
func bytesOf[T tracer.Element](data []T) []byte {
	raw, err := binary.Append(nil, binary.LittleEndian, data)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return raw
}

// floats is load in the precision of the system.
func (s *System) floats(name string, role ir.Role, data []float64) Vector {
	s.t.Helper()
	if s.elem == ir.F64 {
		return load(s, name, s.elem, role, data)
	}
	single := make([]float32, len(data))
	for i, v := range data {
		single[i] = float32(v)
	}
	return load(s, name, s.elem, role, single)
}

// read returns the contents of a buffer of the system's precision, once all work is done.
func (s *System) read(b Vector) ([]float64, error) {
	raw := make([]byte, b.Bytes())
	if err := s.memory.read(raw, b); err != nil {
		return nil, err
	}
	data := make([]float64, int64(len(raw))/s.elem.Size())
	for i := range data {
		if s.elem == ir.F64 {
			data[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		} else {
			data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	}
	return data, nil
}

// Vector allocates a vector that keeps its value between iterations. Its initial value is a copy of data, or 0 if
// data is nil.
func (s *System) Vector(name string, data []float64) Vector {
	s.t.Helper()
	if !s.allocates("Vector", name) {
		return Vector{}
	}
	if data == nil {
		data = make([]float64, s.N)
	}
	if len(data) != s.N {
		s.refuse(fmt.Sprintf("Vector(%q)", name), fmt.Sprintf("it starts as %d numbers, and vectors have %d", len(data), s.N), "pass one for each unknown, or nil for zeros")
		return Vector{}
	}
	return s.floats(name, ir.InOut, slices.Clone(data))
}

// Temporary allocates a vector that each iteration writes before it reads it.
func (s *System) Temporary(name string) Vector {
	s.t.Helper()
	if !s.allocates("Temporary", name) {
		return Vector{}
	}
	return s.t.Alloc(name, s.elem, int64(s.N), ir.Temporary)
}

// Scalar allocates a scalar that keeps its value between iterations.
func (s *System) Scalar(name string, value float64) Vector {
	s.t.Helper()
	if !s.allocates("Scalar", name) {
		return Vector{}
	}
	return s.floats(name, ir.InOut, []float64{value})
}

// TemporaryScalar allocates a scalar that each iteration writes before it reads it.
func (s *System) TemporaryScalar(name string) Vector {
	s.t.Helper()
	if !s.allocates("TemporaryScalar", name) {
		return Vector{}
	}
	return s.t.Alloc(name, s.elem, 1, ir.Temporary)
}

// Shapes of launches. A sum is computed in two stages: each block writes a partial sum to memory, and a single block
// adds the partial sums. The number of blocks is enough to fill every device with a profile, and small enough to add
// quickly.
const (
	threads   = 256
	maxBlocks = 1024
)

func blocksFor(n int) int { return max(1, min((n+threads-1)/threads, maxBlocks)) }

// warpsFor returns the number of threads of a block that adds the given number of partial sums.
func warpsFor(blocks int) int { return min(threads, (blocks+31)/32*32) }

// vectorBlocks and rowBlocks return the number of blocks of kernels over vectors and over rows.
func (s *System) vectorBlocks() int {
	if s.devices > 0 {
		return s.shares().vectors
	}
	return blocksFor(s.N)
}

func (s *System) rowBlocks() int {
	if s.devices > 0 {
		return s.shares().rows
	}
	return blocksFor(s.N * s.lanes)
}

// sums allocates the partial sums of the given number of blocks for some sums.
func (s *System) sums(name string, blocks, sums int) Vector {
	s.t.Helper()
	return s.t.Alloc(name, s.elem, int64(blocks*sums), ir.Temporary)
}

// twoSums allocates partial sums for two sums.
func (s *System) twoSums(name string, blocks int) (first, second Vector) {
	s.t.Helper()
	both := s.sums(name, blocks, 2)
	return both.Slice(0, int64(blocks)), both.Slice(int64(blocks), int64(2*blocks))
}

// launch launches a kernel of a module in one dimension.
func (s *System) launch(module, kernel string, blocks, threads int, args ...any) {
	s.t.Helper()
	s.launchShape(module, kernel, tracer.Linear(uint32(blocks), uint32(threads)), args...)
}

func (s *System) launchShape(module, kernel string, shape tracer.Shape, args ...any) {
	s.t.Helper()
	if !s.issues(launch{s.script.operation, kernel, shape, args}) {
		return
	}
	k, ok := s.kernels[kernel]
	if !ok {
		k = s.modules[module].Kernel(kernel)
		s.kernels[kernel] = k
	}
	s.t.Launch(k, shape, args...)
}

// vector launches a kernel of vector.cu.
func (s *System) vector(kernel string, args ...any) {
	s.t.Helper()
	s.launch("vector", kernel, s.vectorBlocks(), threads, append(args, s.N)...)
}

// rows launches a kernel of spmv.cu.
func (s *System) rows(kernel string, args ...any) {
	s.t.Helper()
	s.over(s.a, "spmv", kernel, args...)
}

// over launches a kernel over the rows of a matrix.
func (s *System) over(m matrix, module, kernel string, args ...any) {
	s.t.Helper()
	args = append(s.operands(m), args...)
	s.launch(module, kernel, s.rowBlocks(), threads, append(args, s.lanes, s.N)...)
}

// scalar launches a kernel of scalar.cu that adds the partial sums of the given number of blocks.
func (s *System) scalar(kernel string, blocks int, args ...any) {
	s.t.Helper()
	s.launch("scalar", kernel, 1, warpsFor(blocks), append(args, s.state)...)
}
