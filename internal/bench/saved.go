package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// OfFile returns a saved program as a workload of one size, 0. Its inputs are the contents that the file states, and zero
// where it states none. The expected results are those of a serial replay, and host calls do nothing.
func OfFile(name string, f *ir.File) *Workload {
	return &Workload{
		Name: name, Title: name, Doc: "saved program",
		Sizes: []int{0},
		Saved: true,
		Loops: Control(f.Graph) > 0,
		Fits: func(size int) error {
			if size != 0 {
				return fmt.Errorf("%s is a saved program, whose size %d cannot be set: leave the size out", name, size)
			}
			return nil
		},
		trace: func(dev device.Device, p Params) (*Instance, error) { return newSaved(dev, f, p) },
	}
}

// saved is the instance of a saved program.
type saved struct {
	*program
	file      *ir.File
	data      [][]byte // first contents, by buffer; nil for buffers that have none
	variables []variable
	want      [][]byte // expected contents of outputs, by buffer
}

// variable is a variable of a module, with its first value.
type variable struct {
	at    device.Ptr
	value []byte
}

func newSaved(dev device.Device, f *ir.File, p Params) (_ *Instance, err error) {
	loaded, err := traced.Load(dev, f)
	if err != nil {
		return nil, err
	}
	p.Memory = AsSaved
	s := &saved{program: &program{dev: dev, params: p, trace: loaded.(*tracer.Trace)}, file: f}
	in := &Instance{Params: p, Trace: s.trace, program: s.program}
	defer func() {
		if err != nil {
			err = device.Join(err, in.Close())
		}
	}()
	if err := s.bind(); err != nil {
		return nil, err
	}
	in.InputHash = func() uint64 { return s.hash() }
	in.Check = s.check
	if p.Sampled {
		in.Reset = s.reset
		in.InputHash = func() uint64 { return 0 }
		in.Check = func() (float64, error) { return 0, nil }
		return in, nil
	}
	alone := sync.OnceValue(s.alone)
	in.Reset = func() error {
		if err := alone(); err != nil {
			return err
		}
		return s.reset()
	}
	return in, nil
}

// bind binds the host calls to a function that does nothing, and finds the buffers and variables that outlive a replay.
func (s *saved) bind() error {
	g := s.trace.Graph
	for i := range g.Ops {
		if op := &g.Ops[i]; op.Kind == ir.KindHost {
			if err := s.trace.BindHost(op.Label, func() error { return nil }); err != nil {
				return err
			}
		}
	}
	for i := range g.Buffers {
		b, err := s.trace.Buffer(g.Buffers[i].Name)
		if err != nil {
			return err
		}
		if s.trace.Pointer(b.ID()) == 0 && g.Buffers[i].Role != ir.Temporary {
			if err := s.bindVariable(g.Buffers[i].Name); err != nil {
				return err
			}
			continue
		}
		s.keep(b)
	}
	return nil
}

// bindVariable keeps the first value of a variable of a module.
func (s *saved) bindVariable(name string) error {
	for i := range s.trace.Graph.Modules {
		short, ok := strings.CutPrefix(name, s.trace.Graph.Modules[i].Name+".")
		if !ok {
			continue
		}
		at, size, err := s.dev.Global(traced.BindingsOf(s.trace).Module(ir.ModuleID(i)), short)
		if err != nil {
			return err
		}
		v := variable{at, make([]byte, size)}
		s.variables = append(s.variables, v)
		return s.dev.Read(v.value, at)
	}
	return nil
}

// contents returns the first contents of buffers.
func (s *saved) contents() [][]byte {
	if s.data != nil {
		return s.data
	}
	s.data = make([][]byte, len(s.trace.Graph.Buffers))
	for _, b := range s.kept {
		if s.starts(b) {
			s.data[b.ID()] = make([]byte, b.Bytes())
		}
	}
	for i := range s.file.Contents {
		c := &s.file.Contents[i]
		s.data[c.Buffer] = c.Bytes(&s.trace.Graph.Buffers[c.Buffer])
	}
	return s.data
}

// starts reports whether the contents of a buffer are defined before a replay.
func (s *saved) starts(b tracer.Buffer) bool {
	r := b.Declaration().Role
	return r == ir.Input || r == ir.InOut || r == ir.Constant
}

func (s *saved) hash() (sum uint64) {
	for _, data := range s.contents() {
		sum = input.Hash(sum, data)
	}
	return sum
}

// reset writes all buffers and variables.
func (s *saved) reset() error {
	data := s.contents()
	var spoilt []tracer.Buffer
	for i := range s.trace.Graph.Buffers {
		b, err := s.trace.Buffer(s.trace.Graph.Buffers[i].Name)
		if err != nil {
			return s.inReset(err)
		}
		if data[i] == nil {
			spoilt = append(spoilt, b)
		} else if err := tracer.Write(b, data[i]); err != nil {
			return s.inReset(err)
		}
	}
	for _, v := range s.variables {
		if err := s.dev.Write(v.at, v.value); err != nil {
			return s.inReset(err)
		}
	}
	return s.poison(spoilt...)
}

// alone replays the program once, one operation after another, and keeps its results as those that are expected.
func (s *saved) alone() (err error) {
	if err := s.reset(); err != nil {
		return err
	}
	planned, err := optimizer.Plan(s.trace.Graph, optimizer.Options{Strategy: serial, Streams: true})
	if err != nil {
		return err
	}
	exec, err := graphexec.Instantiate(s.dev, planned.Schedule, s.trace, graphexec.Streams)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := replay(context.Background(), exec); err != nil {
		return err
	}
	s.want, err = s.results()
	return err
}

// results returns the contents of the outputs, by buffer.
func (s *saved) results() ([][]byte, error) {
	all := make([][]byte, len(s.trace.Graph.Buffers))
	for _, b := range s.kept {
		if r := b.Declaration().Role; r != ir.Output && r != ir.InOut {
			continue
		}
		all[b.ID()] = make([]byte, b.Bytes())
		if err := tracer.Read(all[b.ID()], b); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// check compares the outputs of the last replay with the expected ones: bit by bit on a simulated device, on which equal
// replays give equal bits, and within a tolerance on a GPU, where the order of atomic updates is not fixed.
func (s *saved) check() (maxError float64, err error) {
	if s.want == nil {
		return 0, errors.New("BUG: Check before Reset")
	}
	got, err := s.results()
	if err != nil {
		return 0, err
	}
	for i := range got {
		b := &s.trace.Graph.Buffers[i]
		diff, where := difference(b.Elem, got[i], s.want[i], s.tolerance(b.Elem))
		maxError = max(maxError, diff)
		if where >= 0 && err == nil {
			size := int(b.Elem.Size())
			err = fmt.Errorf("element %d of @%s is %v, and %v after a serial replay", where/size, b.Name, elementOf(b.Elem, got[i][where:]), elementOf(b.Elem, s.want[i][where:]))
		}
	}
	return maxError, err
}

// tolerance returns the greatest relative error of an element.
func (s *saved) tolerance(t ir.Type) float64 {
	switch {
	case s.dev.Info().Simulated:
		return 0
	case t == ir.F64:
		return 1e-9
	case t == ir.F32:
		return 1e-4
	}
	return 0
}

// difference returns the greatest difference of elements, and the offset of the first element whose error exceeds the
// tolerance, or -1. The difference of elements that are not of type F32 or F64 counts as 1.
func difference(t ir.Type, got, want []byte, tolerance float64) (greatest float64, where int) {
	where = -1
	size := int(t.Size())
	for i := 0; i < len(got); i += size {
		if string(got[i:i+size]) == string(want[i:i+size]) {
			continue
		}
		diff, scale := 1.0, 1.0
		if t == ir.F32 || t == ir.F64 {
			a, b := number(t, got[i:]), number(t, want[i:])
			diff, scale = math.Abs(a-b), math.Max(1, math.Abs(b))
		}
		if !(diff <= math.MaxFloat64) {
			diff = math.MaxFloat64
		}
		greatest = math.Max(greatest, diff)
		if where < 0 && !(diff <= tolerance*scale) {
			where = i
		}
	}
	return greatest, where
}

func number(t ir.Type, data []byte) float64 {
	if t == ir.F32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(data))
}

// elementOf returns the first element of data.
func elementOf(t ir.Type, data []byte) ir.Scalar {
	var word [8]byte
	copy(word[:t.Size()], data)
	return ir.Scalar{Type: t, Bits: binary.LittleEndian.Uint64(word[:])}
}
