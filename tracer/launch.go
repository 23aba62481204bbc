package tracer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// Shape is the launch configuration of a kernel.
type Shape struct {
	Grid, Block ir.Dim3
	Shared      uint32 // dynamic shared memory, bytes
}

// Linear is a one-dimensional shape. A kernel with a thread for each of n elements takes (n+threads-1)/threads
// blocks; n/threads would leave out the last elements unless threads divides n.
func Linear(blocks, threads uint32) Shape {
	return Shape{Grid: ir.Dim3{X: blocks, Y: 1, Z: 1}, Block: ir.Dim3{X: threads, Y: 1, Z: 1}}
}

// Param is a scalar argument that a replay may change by name.
type Param struct {
	t  *Tracer
	id ir.ParamID
}

// Param declares a replay parameter with its first value. A launch is recorded with that value, and is refused
// with a SliceError if it certainly leaves a slice with it. A second declaration of a name with the same type
// and value returns the same parameter; with another type or value it is an error.
func (t *Tracer) Param(name string, typ ir.Type, value any) Param {
	if t == nil {
		return Param{}
	}
	t.stopped() // prepares a zero Tracer
	p := Param{t: t, id: ir.ParamID(len(t.graph.Params))}
	v, err := ir.NewScalar(typ, value)
	if err != nil {
		t.fail(t.callerPC(), "parameter $%s: %w", name, err)
		v.Type = typ
	}
	if first, taken := t.params[name]; taken {
		if was := t.graph.Params[first.id].Value; was != v {
			t.fail(t.callerPC(), "parameter $%s is declared as %v, and again as %v: use another name, or change the value between replays with Set", name, was, v)
		}
		return first
	}
	t.graph.Params = append(t.graph.Params, ir.Param{Name: name, Value: v})
	t.params[name] = p
	return p
}

// Launch records a kernel launch. The arguments follow the kernel's parameters: a Buffer or a PerBlock for a pointer,
// a Go number or a Param for a scalar. A Go number is converted to the type of the parameter; a number
// that does not fit is an error. The element type of a Buffer is not checked, because pointers in PTX
// are untyped: the kernel must use the element type that the buffer was allocated with.
//
//go:noinline
func (t *Tracer) Launch(k *Kernel, s Shape, args ...any) Op {
	if t.stopped() {
		return Op{}
	}
	pc := returnAddress()
	if t.helpers != nil {
		pc = t.callerPC()
	} else if !t.sites.has(pc) {
		pc = t.sites.learn(pc, t.callerPC())
	}
	o, err := t.launch(k, s, args, pc)
	if err != nil {
		t.fail(pc, "launch of %s: %w", k.name(), err)
	}
	return o
}

// launch is Launch for a call with return address pc. It checks the kernel, the shape and the arguments;
// then the accesses of the launch are computed, unless an equal launch came before (see repeats).
func (t *Tracer) launch(k *Kernel, s Shape, args []any, pc uintptr) (Op, error) {
	if k == nil {
		return Op{}, absent.Nil("the kernel")
	}
	if k.module == nil || k.module.t == nil {
		return Op{}, absent.Error("a zero Kernel was passed, or one of a zero Module: Tracer.Module and Module.Kernel return them")
	}
	if k.module.t != t {
		return Op{}, sentinel.Errorf(sentinel.ErrOtherTrace, "the kernel belongs to another tracer, of trace %s: take it from a Module of this one", k.module.t.graph.Name)
	}
	if len(args) != len(k.params) {
		return Op{}, fmt.Errorf("%d arguments for %d parameters: the kernel takes %s", len(args), len(k.params), k.takes())
	}
	if err := checkShape(s); err != nil {
		return Op{}, err
	}
	t.values = slices.Grow(t.values[:0], len(args))[:len(args)]
	values := t.values
	for i, a := range args {
		if err := t.argument(&values[i], &k.params[i], a); err != nil {
			return Op{}, fmt.Errorf("argument %d (%s): %w", i, k.params[i].name, err)
		}
	}
	maps, err := declared(args, k.params)
	if err != nil {
		return Op{}, err
	}
	if t.mode == Direct {
		t.performLaunch(k, s, values, args, pc)
		return Op{}, nil
	}
	m, again := k.repeats.find(s, values, args, maps)
	if !again {
		uses, err := t.accesses(k, s, values, args, maps)
		if err != nil {
			return Op{}, err
		}
		m = int32(len(t.made))
		l := t.newLaunch(k, s, values)
		l.Maps = maps
		t.promise(l, args)
		t.made = append(t.made, made{l, uses})
		k.repeats.add(m)
	}
	o := t.call(m, pc)
	if k.opaque {
		t.opaque = append(t.opaque, o.id)
	}
	if t.mode == Eager {
		t.runLaunch(k, t.made[m].launch, pc)
	}
	return o, nil
}

func (t *Tracer) newLaunch(k *Kernel, s Shape, values []ir.Arg) *ir.Launch {
	l := &t.launches.take(1)[0]
	*l = ir.Launch{Module: k.module.id, Entry: k.entry, Grid: s.Grid, Block: s.Block, Shared: s.Shared, Args: t.args.take(len(values))}
	copy(l.Args, values)
	return l
}

// accesses returns the accesses of a launch to its arguments and to the variables of its module. The
// error is a SliceError if the launch certainly leaves a slice, and another one if it certainly leaves what it declares.
func (t *Tracer) accesses(k *Kernel, s Shape, values []ir.Arg, args []any, maps []ir.Map) ([]ir.Access, error) {
	if slices.ContainsFunc(args, isSlice) {
		if err := t.stays(t.graph, k, s, values, sliced(args), t.firstValue); err != nil {
			return nil, err
		}
	}
	uses := t.reached(k, s, values, args, maps)
	for i := range maps { // reached has set the arguments
		a := maps[i].Arg
		if err := k.reach.contradicted(&maps[i], &k.params[a], bufferOf(args[a]), &s); err != nil {
			return nil, err
		}
	}
	return uses, nil
}

// reached returns the accesses of a launch. They hold for all values that replays may give to its
// parameters.
func (t *Tracer) reached(k *Kernel, s Shape, values []ir.Arg, args []any, maps []ir.Map) []ir.Access {
	r := k.reach
	r.begin(&s)
	for i := range values {
		t.known(r, i, &k.params[i], &values[i], t.firstValue)
		r.launch.Varies[i] = values[i].Kind == ir.ArgParam
	}
	r.boxes()
	uses := t.scratch[:0]
	for i, a := range args {
		if b := bufferOf(a); k.params[i].reached && b.Bytes() > 0 {
			lo, hi := within(blockmap.Find(maps, i), s.Grid, b)
			uses = r.appendUses(uses, i, &k.params[i], b, lo, hi, &t.shapes)
		}
	}
	t.graph.Shapes = t.shapes.Shapes()
	uses = append(uses, k.symbols...)
	t.scratch = uses
	return append(t.uses.take(len(uses))[:0], uses...) // nil for none, as the parser leaves it
}

func (t *Tracer) firstValue(p ir.ParamID) ir.Scalar { return t.graph.Params[p].Value }

// known sets argument i of the launch whose reach r computes. value returns the values of parameters.
func (t *Tracer) known(r *reacher, i int, p *param, a *ir.Arg, value func(ir.ParamID) ir.Scalar) {
	switch a.Kind {
	case ir.ArgScalar:
		r.set(i, a.Scalar.Type.Size(), a.Scalar.Bits)
	case ir.ArgParam:
		v := value(a.Param)
		r.set(i, v.Type.Size(), v.Bits)
	case ir.ArgBuffer:
		r.set(i, 8, uint64(t.addressOf(a.Buffer))+uint64(a.Offset))
		r.addresses = r.addresses || p.counted
	}
}

// widenOpaque adds accesses to launches of opaque kernels, which follow pointers that they load from
// memory: each may read and write every buffer that kernels can reach. It runs at the end of the trace,
// because such a pointer may lead to a buffer that is allocated after the launch.
func (t *Tracer) widenOpaque() {
	for _, id := range t.opaque {
		op := &t.graph.Ops[id]
		uses := slices.DeleteFunc(slices.Clone(op.Uses), func(a ir.Access) bool { return widened(&t.graph.Buffers[a.Buffer]) })
		for b := range t.graph.Buffers {
			if buf := &t.graph.Buffers[b]; widened(buf) {
				uses = append(uses, ir.Access{Range: ir.Range{Buffer: ir.BufferID(b), Hi: buf.Size()}, Mode: ir.ReadWrite})
			}
		}
		op.Uses = uses
	}
}

// widened reports whether a pointer that a kernel loads may lead to a buffer.
func widened(b *ir.Buffer) bool {
	k := b.Place.Kind
	return (k == ir.OnDevice || k == ir.Managed) && b.Len > 0 && b.Role != ir.Constant
}

// checkShape refuses a shape that no device accepts. The device reports shapes beyond its own limits.
func checkShape(s Shape) error {
	if s.Grid.Count() == 0 || s.Block.Count() == 0 {
		return fmt.Errorf("grid %v and block %v: every extent is at least 1", s.Grid, s.Block)
	}
	return nil
}

// argument sets v to an argument, converted to the type of its parameter p. The error says what to pass
// instead.
func (t *Tracer) argument(v *ir.Arg, p *param, a any) error {
	switch a := a.(type) {
	case nil:
		return absent.Error("it is nil: pass a Buffer for a pointer, a Go number or a Param for a scalar")
	case PerBlock:
		return t.argument(v, p, a.Buffer)
	case Buffer:
		if err := t.usable(a); err != nil {
			return err
		}
		if !p.pointer {
			return fmt.Errorf("%s is passed for %v: pass a Go number or a Param", a.name(), p.typ)
		}
		if k := a.place(); k != ir.OnDevice && k != ir.Managed {
			return fmt.Errorf("%s is host memory, which kernels cannot reach: copy it to the device first", a.name())
		}
		*v = ir.Arg{Kind: ir.ArgBuffer, Buffer: a.id, Offset: a.lo}
		return nil
	case Param:
		if a.t == nil {
			return absent.Error(errForeignParam.Error())
		}
		if a.t != t {
			return errForeignParam
		}
		typ := t.graph.Params[a.id].Value.Type
		if p.touched || typ.Size() != p.typ.Size() || typ.Float() != p.typ.Float() {
			return fmt.Errorf("parameter $%s is %v, the kernel takes %s", t.graph.Params[a.id].Name, typ, p.want())
		}
		*v = ir.Arg{Kind: ir.ArgParam, Param: a.id}
		return nil
	}
	if p.touched {
		return fmt.Errorf("%s is passed for a pointer: pass a Buffer", phrase.Number(a))
	}
	scalar, err := scalarFor(p.typ, a)
	*v = ir.Arg{Kind: ir.ArgScalar, Scalar: scalar}
	return err
}

var errForeignParam = sentinel.New(sentinel.ErrOtherTrace, "the Param was not declared on this trace")

// takes lists the types of the parameters.
func (k *Kernel) takes() string {
	if len(k.params) == 0 {
		return "none"
	}
	types := make([]string, len(k.params))
	for i := range k.params {
		types[i] = k.params[i].want()
	}
	return strings.Join(types, ", ")
}

// want names what to pass for the parameter.
func (p *param) want() string {
	if p.touched {
		return "a pointer"
	}
	return p.typ.String()
}

// scalarFor converts a Go number to the type of a parameter. Compilers declare both int and unsigned
// parameters as unsigned PTX types, so an integer parameter takes the signedness of the number passed
// for it; an int, the type of a constant, is signed if it fits.
func scalarFor(typ ir.Type, a any) (ir.Scalar, error) {
	switch a := a.(type) {
	case int32: // the usual case, without reflection
		if typ == ir.U32 {
			return ir.Scalar{Type: ir.I32, Bits: uint64(uint32(a))}, nil
		}
	case uint8, uint16, uint32, uint64, uint:
		return ir.NewScalar(typ, a)
	}
	signed := signedOf(typ)
	if signed == typ {
		return ir.NewScalar(typ, a)
	}
	if v, err := ir.NewScalar(signed, a); err == nil {
		return v, nil
	}
	return ir.NewScalar(typ, a)
}

// signedOf returns the signed type of the size of an unsigned one, and any other type unchanged.
func signedOf(typ ir.Type) ir.Type {
	switch typ {
	case ir.U8:
		return ir.I8
	case ir.U16:
		return ir.I16
	case ir.U32:
		return ir.I32
	case ir.U64:
		return ir.I64
	}
	return typ
}
