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

// accessOf joins what the kernel does through every pointer in parameter i.
// The second is what it does through it besides, should it be an address that
// the kernel takes for a number.
func accessOf(e *access.Effects, i int) (direct, offset access.Access) {
	for _, p := range e.Params {
		if p.Param == i {
			direct, offset = direct.Or(p.Access), offset.Or(p.Offset)
		}
	}
	return direct, offset
}

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

// modeOf is how a trace records an access; what is not known is both.
func modeOf(a access.Access) ir.Mode {
	switch a {
	case access.Read:
		return ir.Read
	case access.Write:
		return ir.Write
	}
	return ir.ReadWrite
}

// variable finds a module-scope variable that the inference has named.
func (m *Module) variable(name string) *ptx.Var {
	for _, v := range m.ast.Statics() {
		if v.Name == name {
			return v
		}
	}
	panic("BUG: the inference names variable " + name + ", which the module does not declare")
}

// symbol is the whole of a module-scope variable. Kernels of one module reach it
// without being passed it, so it is a buffer of the graph, without an address of
// its own.
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
// parameters, tells signed integers from unsigned ones, and may claim more than
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
				p.mode = ir.ReadWrite // the kernel computes with it as with a number: do not trust a guess
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
