package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// describe fills in the kernel's parameters and hidden accesses from its PTX
// and, when there is one, from its declared signature.
func (k *Kernel) describe(f *ptx.Func, signature []string) error {
	k.reach = newReacher(k.module.ast, f)
	effects := k.reach.footprint.Effects
	for i, v := range f.Params {
		direct, offset := accessOf(effects, i)
		p, err := describeParam(v, direct, offset)
		if err != nil {
			return fmt.Errorf("kernel %s, parameter %d: %w", f.Name, i, err)
		}
		k.params = append(k.params, p)
	}
	for _, s := range effects.Symbols {
		if s.Access != access.None && k.module.variable(s.Name).Space == ptx.Global {
			k.symbols = append(k.symbols, ir.Access{Range: k.module.symbol(s.Name), Mode: modeOf(s.Access)})
		}
	}
	k.opaque = effects.Opaque != nil
	for _, text := range signature {
		if err := k.declare(f, text); err != nil {
			return err
		}
	}
	return nil
}

// accessOf returns how the kernel accesses memory through the pointers in parameter i: direct for
// accesses to addresses derived from a pointer, offset for those that happen only if a value used as a
// number, such as an index, is in fact an address.
func accessOf(e *access.Effects, i int) (direct, offset access.Access) {
	for _, p := range e.Params {
		if p.Param == i {
			direct, offset = direct.Or(p.Access), offset.Or(p.Offset)
		}
	}
	return direct, offset
}

// describeParam describes a parameter from the accesses of accessOf. The error reports a type that a
// trace cannot pass.
func describeParam(v *ptx.Var, direct, offset access.Access) (param, error) {
	p := param{name: v.Name, pointer: v.Size() == 8 && !v.Type.Float(), touched: direct != access.None}
	p.counted = offset != access.None
	p.reached = p.touched || p.counted
	p.ranged = p.touched && !p.counted && direct != access.Unknown
	var ok bool
	if p.typ, ok = scalarTypes[v.Type]; !ok || v.Dims != nil {
		return p, fmt.Errorf("a struct of %d bytes cannot be traced: pass its fields as parameters of their own", v.Size())
	}
	if p.reached {
		p.mode = modeOf(direct.Or(offset))
	}
	return p, nil
}

// scalarTypes maps the types of kernel parameters. PTX does not keep the sign
// of an integer: see scalarFor.
var scalarTypes = map[ptx.Type]ir.Type{
	ptx.B8: ir.U8, ptx.U8: ir.U8, ptx.S8: ir.I8,
	ptx.B16: ir.U16, ptx.U16: ir.U16, ptx.S16: ir.I16, ptx.F16: ir.F16, ptx.BF16: ir.BF16,
	ptx.B32: ir.U32, ptx.U32: ir.U32, ptx.S32: ir.I32, ptx.F32: ir.F32,
	ptx.B64: ir.U64, ptx.U64: ir.U64, ptx.S64: ir.I64, ptx.F64: ir.F64,
}

// modeOf returns the mode in which a trace records an access. An unknown access counts as a read and a
// write.
func modeOf(a access.Access) ir.Mode {
	switch a {
	case access.Read:
		return ir.Read
	case access.Write:
		return ir.Write
	}
	return ir.ReadWrite
}

// variable returns a module-scope variable that the inference of accesses has named.
func (m *Module) variable(name string) *ptx.Var {
	for _, v := range m.ast.Statics() {
		if v.Name == name {
			return v
		}
	}
	panic("BUG: the inference names variable " + name + ", which the module does not declare")
}

// symbol returns the range of a module-scope variable. Kernels of the module reach it without a
// parameter, so the graph has a buffer for it, which orders their launches. The buffer has no memory of
// its own: the loaded module has it.
func (m *Module) symbol(name string) ir.Range {
	t := m.t
	if r, ok := m.symbols[name]; ok {
		return r
	}
	size := m.variable(name).Size()
	r := ir.Range{Buffer: ir.BufferID(len(t.buffers)), Hi: size}
	t.buffers = append(t.buffers, allocation{})
	t.graph.Buffers = append(t.graph.Buffers, ir.Buffer{
		Name: t.uniqueName(t.graph.Modules[m.id].Name + "." + name), Elem: ir.U8, Len: size, Role: ir.InOut,
	})
	m.symbols[name] = r
	return r
}

// declare applies a signature such as "x: in f32*, n: i32": it names the
// parameters, distinguishes signed integers from unsigned ones, and may claim more than
// the PTX shows but not less.
func (k *Kernel) declare(f *ptx.Func, text string) error {
	declared, err := access.ParseSignature(text)
	if err != nil {
		return err
	}
	if err := access.CheckDeclared(k.module.ast, f, declared); err != nil {
		return err
	}
	for i, d := range declared {
		p := param{name: d.Name, typ: scalarTypes[d.Type]}
		if d.Pointer {
			p = param{name: d.Name, typ: ir.U64, pointer: true, touched: true, reached: true, mode: declaredModes[d.Mode]}
			inferred := k.params[i]
			if inferred.reached && !inferred.touched {
				p.mode = ir.ReadWrite // the kernel computes with the address as a number, so the mode is a guess
			}
			p.counted = inferred.counted
			p.ranged = inferred.ranged && (p.mode == inferred.mode || p.mode == ir.Reduce)
		}
		k.params[i] = p
	}
	return nil
}

var declaredModes = map[access.Mode]ir.Mode{
	access.ModeIn: ir.Read, access.ModeOut: ir.Write, access.ModeInOut: ir.ReadWrite, access.ModeReduce: ir.Reduce,
}
