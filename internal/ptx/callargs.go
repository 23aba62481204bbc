package ptx

import (
	"fmt"
	"slices"
)

// checkArguments compares the arguments or the results of a call with the formal
// parameters of its callee.
func (b *body) checkArguments(list []Operand, formals []*Var, role, callee string) {
	for i := range list {
		if required := b.argumentFault(&list[i], formals[i], role == "result"); required != "" {
			b.p.report(list[i].Pos, "%s %d of %s must be %s, not %s", role, i+1, callee, required, b.f.describe(&list[i]))
		}
	}
}

// argumentFault returns a description of the argument that a formal parameter requires, or ""
// if op fits:
//
//	op                        formal scalar                    formal array
//	register                  if the types agree               no
//	.param variable of body   if type and alignment agree      if extents and alignment agree
//	integer                   of integer or bit type           no
//	floating-point constant   of floating-point or bit type    no
//
// A result is a register, "_" or a .param variable.
func (b *body) argumentFault(op *Operand, formal *Var, result bool) string {
	scalar := len(formal.Dims) == 0
	required := fmt.Sprintf("a register, constant or .param variable of type .%s", formal.Type)
	if !scalar {
		required = fmt.Sprintf("a .param array of type .%s aligned to %d", formal.TypeString(), formal.Align)
	}
	switch {
	case op.Kind == OpReg && op.Reg != NoReg:
		return unless(scalar && typesAgree(callType(b.f.Regs[op.Reg].Type), callType(formal.Type), false), required)
	case op.Kind == OpSymbol && op.Var != nil && op.Imm == 0:
		return unless(b.callScope(op.Var) && fitsFormal(op.Var, formal), required)
	case result:
		return unless(op.Kind == OpReg, required) // the sink "_" is accepted, a constant is not
	case op.Kind == OpInt:
		return unless(scalar && formal.Type != Pred && !formal.Type.Float(), required)
	case op.Kind == OpFloat32 || op.Kind == OpFloat64:
		return unless(scalar && (formal.Type.bits() || formal.Type.Float()), required)
	}
	return required
}

// callScope reports whether v is a .param variable declared in the body.
func (b *body) callScope(v *Var) bool {
	return v.Space == ParamSpace && !slices.Contains(b.f.Params, v) && !slices.Contains(b.f.Return, v)
}

// fitsFormal reports whether a .param variable fits a formal parameter: alignment, size and
// type must agree. An array of bits fits any type, and a formal parameter without an extent
// accepts an array of any size.
func fitsFormal(v, formal *Var) bool {
	switch {
	case (len(v.Dims) == 0) != (len(formal.Dims) == 0) || v.Align != formal.Align:
		return false
	case len(formal.Dims) == 0:
		return typesAgree(v.Type, callType(formal.Type), false)
	case formal.incomplete():
		return true
	case v.Type.bits() || formal.Type.bits():
		return v.Size() == formal.Size()
	}
	return slices.Equal(v.Dims, formal.Dims) && typesAgree(v.Type, formal.Type, false)
}

// callType returns the type by which calls compare t. A pair .f16x2 is passed as bits.
func callType(t Type) Type {
	if t == F16X2 {
		return B32
	}
	return t
}
