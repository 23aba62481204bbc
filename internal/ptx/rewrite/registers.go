package rewrite

import "github.com/reprise-gpu/reprise/internal/ptx"

// definitions counts the instructions that may define each register of f.
func definitions(f *ptx.Func) []int {
	defs := make([]int, len(f.Regs))
	for i := range f.Body {
		eachDefined(&f.Body[i], func(id ptx.RegID) { defs[id]++ })
	}
	return defs
}

// eachDefined calls use for the registers that an instruction may define: those of the first
// operand, and of all lists of a call.
func eachDefined(in *ptx.Inst, use func(ptx.RegID)) {
	list := in.Args
	switch {
	case in.Name == "call":
	case len(list) == 0 || !definesFirst(in):
		return
	default:
		list = list[:1]
	}
	eachNested(list, func(op *ptx.Operand) {
		for _, id := range []ptx.RegID{op.Reg, op.Reg2} {
			if id != ptx.NoReg {
				use(id)
			}
		}
	})
}

// definesFirst reports whether the first operand may be a result: it is not an address, and the
// instruction does more than branch.
func definesFirst(in *ptx.Inst) bool {
	switch in.Name {
	case "bra", "brx", "ret", "exit", "st", "red":
		return false
	}
	return in.Args[0].Kind != ptx.OpMem
}
