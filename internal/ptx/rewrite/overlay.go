package rewrite

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// sharedLayout is where a part has its shared memory. Offsets count from the start of the
// memory that all parts share.
type sharedLayout struct {
	offsets map[*ptx.Var]int64
	static  int64 // bytes
	dynamic int64 // offset of the dynamic memory, -1 if the part has none
	align   int
}

// overlay lays the shared memory of the parts over one another:
//
//	part 0    │ a │ b │ dynamic     │
//	part 1    │ c         │ dynamic         │
//	part 2    │ d │
//	          0
//
// One variable replaces all others. It is dynamic memory if a part has such memory, else static.
func (f *fusion) overlay() error {
	layouts := make([]*sharedLayout, len(f.parts))
	all := &ptx.Var{Name: f.tag + "_shared", Space: ptx.Shared, Type: ptx.B8, Align: 1}
	size, dynamic := int64(0), false
	for i, p := range f.parts {
		l, err := p.layoutShared()
		if err != nil {
			return err
		}
		end := l.static
		if l.dynamic >= 0 {
			dynamic = true
			end = l.dynamic + int64(p.Shared)
		}
		size, all.Align = max(size, end), max(all.Align, l.align)
		layouts[i] = l
	}
	if size == 0 && !dynamic {
		return nil
	}
	all.Dims = []int64{size}
	if dynamic {
		all.Dims, all.Extern, all.Link = []int64{0}, true, ptx.External
		f.result.Shared = uint32(size)
	}
	f.vars = append(f.vars, all)
	for i, p := range f.parts {
		p.moveShared(layouts[i], all)
	}
	return nil
}

// layoutShared places the shared variables of a part, those of module scope first.
func (p *fusedPart) layoutShared() (*sharedLayout, error) {
	l := &sharedLayout{offsets: map[*ptx.Var]int64{}, dynamic: -1, align: 1}
	list := slices.Clone(p.vars)
	for _, g := range p.bodies() {
		list = append(list, g.Vars...)
	}
	list = slices.DeleteFunc(list, func(v *ptx.Var) bool { return v.Space != ptx.Shared })
	var open []*ptx.Var
	for _, v := range list {
		l.align = max(l.align, v.Align)
		if v.Extern || v.Size() == 0 {
			open = append(open, v)
			continue
		}
		l.static = (l.static + int64(v.Align) - 1) &^ (int64(v.Align) - 1)
		l.offsets[v] = l.static
		l.static += v.Size()
	}
	for _, v := range p.statics() {
		for _, r := range v.Relocs {
			if slices.ContainsFunc(list, func(s *ptx.Var) bool { return s.Name == r.Symbol }) {
				return nil, refuse(p.Kernel, "the initial value of %s holds the address of shared variable %s", v.Name, r.Symbol)
			}
		}
	}
	if len(open) > 0 {
		// Dynamic memory begins at a multiple of 16, and of what its variables need.
		l.align = max(l.align, 16)
		l.dynamic = (l.static + int64(l.align) - 1) &^ (int64(l.align) - 1)
		for _, v := range open {
			l.offsets[v] = l.dynamic
		}
	}
	return l, nil
}

// moveShared makes the operands of a part refer to the common variable.
func (p *fusedPart) moveShared(l *sharedLayout, all *ptx.Var) {
	for _, g := range p.bodies() {
		g.Vars = slices.DeleteFunc(g.Vars, func(v *ptx.Var) bool { return v.Space == ptx.Shared })
		eachOperand(g, func(_ *ptx.Inst, op *ptx.Operand) {
			if offset, ok := l.offsets[op.Var]; ok {
				op.Var = all
				op.Imm += offset
				p.touched[g] = true
			}
		})
	}
}
