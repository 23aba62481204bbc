package interp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/stretchr/testify/require"
)

// TestAnyInstructionRunsOrIsRefused gives the lowering every opcode name with
// random suffixes and operands, far from anything a compiler emits. Each must
// be refused with a reason or run to an end; an index out of range would panic.
func TestAnyInstructionRunsOrIsRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	names := []string{"add", "mul", "mad", "fma", "sub", "div", "rem", "min", "shl", "bfe", "popc", "prmt", "shf", "addc", "neg", "sqrt", "ex2"}
	for name := range lowerings {
		names = append(names, name)
	}
	slices.Sort(names)
	ran := 0
	for range 60_000 {
		in := randomInst(r, names[r.IntN(len(names))])
		if runInst(t, in) {
			ran++
		}
	}
	require.Greater(t, ran, 1000, "the generator no longer makes instructions that run")
}

var suffixes = []string{
	"u8", "s8", "u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f16", "f16x2", "f32", "f64", "pred",
	"rn", "rz", "rzi", "rni", "ftz", "sat", "approx", "lo", "hi", "wide", "cc", "v2", "v4", "global", "shared", "local", "param", "const",
	"sync", "up", "down", "bfly", "idx", "all", "any", "ballot", "red", "arrive", "popc", "and", "or", "warp", "add", "cas", "exch", "max",
	"lt", "ne", "geu", "to", "volatile", "nc", "normal", "uni", "wrap", "l", "r",
}

func randomInst(r *rand.Rand, name string) ptx.Inst {
	in := ptx.Inst{Pos: ptx.Pos{Line: 1, Col: 1}, Name: name, Guard: ptx.Guard{Reg: ptx.NoReg}}
	if r.IntN(8) == 0 {
		in.Guard.Reg = ptx.RegID(r.IntN(2))
	}
	for range 1 + r.IntN(3) {
		in.Suffix = append(in.Suffix, suffixes[r.IntN(len(suffixes))])
		if in.Unknown() != "" && r.IntN(8) > 0 { // most must be known, to get past the first check
			in.Suffix = in.Suffix[:len(in.Suffix)-1]
		}
	}
	for range r.IntN(6) {
		in.Args = append(in.Args, randomOperand(r, 0))
	}
	return in
}

// fuzzVars is one variable of each space.
var fuzzVars = []*ptx.Var{
	{Name: "g", Space: ptx.Global, Type: ptx.B32, Dims: []int64{16}},
	{Name: "s", Space: ptx.Shared, Type: ptx.B32, Dims: []int64{16}},
	{Name: "d", Space: ptx.Shared, Type: ptx.B8, Dims: []int64{0}, Extern: true},
	{Name: "l", Space: ptx.Local, Type: ptx.B64, Dims: []int64{2}},
	{Name: "p", Space: ptx.ParamSpace, Type: ptx.U64},
}

func randomOperand(r *rand.Rand, depth int) ptx.Operand {
	op := ptx.Operand{Reg: ptx.NoReg, Reg2: ptx.NoReg}
	reg := func() ptx.RegID { return ptx.RegID(r.IntN(len(fuzzRegs)+1) - 1) }
	switch k := r.IntN(14); {
	case k < 6:
		op.Kind, op.Reg, op.Neg = ptx.OpReg, reg(), r.IntN(20) == 0
	case k == 6:
		op.Kind, op.Reg, op.Reg2 = ptx.OpPair, reg(), reg()
	case k == 7:
		op.Kind, op.Imm = ptx.OpInt, int64(r.IntN(40))
	case k == 8:
		op.Kind, op.Imm = ptx.OpFloat32, 0x3f800000
	case k == 9:
		op.Kind, op.Name = ptx.OpSpecial, []string{"%tid.x", "%clock64", "%pm0", "WARP_SZ"}[r.IntN(4)]
	case k == 10:
		op.Kind, op.Var = ptx.OpSymbol, fuzzVars[r.IntN(len(fuzzVars))]
	case k == 11 && depth == 0:
		op.Kind = ptx.OpVector
		for range r.IntN(5) {
			op.Elems = append(op.Elems, randomOperand(r, 1))
		}
	case k == 12:
		op.Kind, op.Name, op.Target = ptx.OpLabel, "L", r.IntN(3)
	default:
		op.Kind, op.Reg = ptx.OpMem, reg()
		if r.IntN(2) == 0 {
			op.Reg, op.Var = ptx.NoReg, fuzzVars[r.IntN(len(fuzzVars))]
		}
	}
	return op
}

var fuzzRegs = []ptx.Reg{
	{Name: "%p0", Type: ptx.Pred}, {Name: "%p1", Type: ptx.Pred}, {Name: "%h", Type: ptx.B16}, {Name: "%r0", Type: ptx.B32},
	{Name: "%r1", Type: ptx.U32}, {Name: "%f", Type: ptx.F32}, {Name: "%rd", Type: ptx.B64}, {Name: "%fd", Type: ptx.F64},
}

// runInst reports whether the instruction ran without a fault.
func runInst(t *testing.T, in ptx.Inst) bool {
	f := &ptx.Func{
		Name: "k", Entry: true, Regs: fuzzRegs, Params: fuzzVars[4:], Vars: fuzzVars[1:4],
		Body: []ptx.Inst{{Name: "mov", Suffix: []string{"u32"}, Guard: ptx.Guard{Reg: ptx.NoReg},
			Args: []ptx.Operand{{Kind: ptx.OpReg, Reg: 3, Reg2: ptx.NoReg}, {Kind: ptx.OpSpecial, Name: "%tid.x"}}}, in},
	}
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%s %+v panics: %v", in.Opcode(), in.Args, e)
		}
	}()
	mem := NewMemory(1 << 16)
	mod, err := LoadModule(mem, &ptx.Module{File: "f.ptx", AddressSize: 64, Vars: fuzzVars[:1], Funcs: []*ptx.Func{f}})
	require.NoError(t, err)
	k, err := mod.Kernel("k")
	require.NoError(t, err)
	_, fault := k.Run(mem, Launch{Grid: dims(1, 1, 1), Block: dims(40, 1, 1), Shared: 16, Params: make([]byte, 8), StepLimit: 100})
	if fault != nil {
		require.NotEmpty(t, fault.Reason)
	}
	return fault == nil
}
