package access

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestInferIsSound runs random kernels with real addresses and requires that
// every buffer they reach was inferred. The kernels move pointers through few
// registers, sums, differences, masks, selections and local memory, under guards,
// around jumps, and up to three times around a loop; a wild address, which hits no
// buffer, is undefined behaviour.
func TestInferIsSound(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	clear := 0
	const runs = 4000
	for range runs {
		src := randomKernel(rng)
		m, err := ptx.Parse("random.ptx", src)
		require.NoError(t, err, "%s", src)
		effects := Infer(m, m.Funcs[0])
		if effects.Opaque == nil {
			clear++
		}
		reached := (&tinyMachine{f: m.Funcs[0], rng: rng}).run()
		for i, access := range reached {
			got := effects.Params[i].Access.Or(effects.Params[i].Offset)
			require.Equal(t, got, got.Or(access), "parameter %d: %s\n%s", i, describeEffects(effects), src)
		}
	}
	require.Greater(t, clear, runs/4, "too few kernels say anything")
}

const tinyRegs, tinyPointers = 8, 3

func randomKernel(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString(testHead + ".entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 n) {\n" +
		".reg .pred %p<2>; .reg .b64 %rd<8>; .local .align 8 .b8 depot[16];\n")
	for i := range tinyPointers {
		fmt.Fprintf(&b, "ld.param.u64 %%rd%d, [p%d]; cvta.to.global.u64 %%rd%d, %%rd%d;\n", i, i, i, i)
	}
	b.WriteString("ld.param.u64 %rd3, [n];\nLOOP:\n")
	regs := 4 + rng.Intn(tinyRegs-3)
	reg := func() string { return fmt.Sprintf("%%rd%d", rng.Intn(regs)) }
	skips := 0
	for range 3 + rng.Intn(12) {
		d, x, y := reg(), reg(), reg()
		switch rng.Intn(8) {
		case 0:
			b.WriteString("@%p1 ")
		case 1:
			fmt.Fprintf(&b, "@%%p1 bra SKIP%d;\n", skips)
			skips++
		case 2:
			if skips > 0 && !strings.Contains(b.String(), fmt.Sprintf("SKIP%d:", skips-1)) {
				fmt.Fprintf(&b, "SKIP%d:\n", skips-1)
			}
		}
		switch rng.Intn(14) {
		case 0, 1, 2:
			fmt.Fprintf(&b, "add.s64 %s, %s, %s;\n", d, x, y)
		case 3:
			fmt.Fprintf(&b, "sub.s64 %s, %s, %s;\n", d, x, y)
		case 4:
			fmt.Fprintf(&b, "add.s64 %s, %s, %d;\n", d, x, 8*rng.Intn(4))
		case 5:
			fmt.Fprintf(&b, "mov.u64 %s, %s;\n", d, x)
		case 6:
			fmt.Fprintf(&b, "mul.lo.s64 %s, %s, %d;\n", d, x, rng.Intn(3))
		case 7:
			fmt.Fprintf(&b, "and.b64 %s, %s, -16;\n", d, x)
		case 8:
			fmt.Fprintf(&b, "selp.b64 %s, %s, %s, %%p1;\n", d, x, y)
		case 9:
			fmt.Fprintf(&b, "st.local.u64 [depot+%d], %s;\n", 8*rng.Intn(2), x)
		case 10:
			fmt.Fprintf(&b, "ld.local.u64 %s, [depot+%d];\n", d, 8*rng.Intn(2))
		case 11:
			fmt.Fprintf(&b, "mad.lo.s64 %s, %s, 8, %s;\n", d, x, y)
		case 12:
			fmt.Fprintf(&b, "st.global.u64 [%s+8], %s;\n", x, y)
		case 13:
			fmt.Fprintf(&b, "ld.global.u64 %s, [%s];\n", d, x)
		}
	}
	for n := range skips {
		if label := fmt.Sprintf("SKIP%d:", n); !strings.Contains(b.String(), label) {
			b.WriteString(label + "\n")
		}
	}
	b.WriteString("@%p1 bra LOOP;\nret;\n}\n")
	return b.String()
}

// tinyMachine runs the instructions of randomKernel for one thread. The
// buffers lie far apart and are 64 KiB long; n is 24.
type tinyMachine struct {
	f       *ptx.Func
	rng     *rand.Rand
	regs    [tinyRegs + 2]uint64
	local   [2]uint64
	memory  map[uint64]uint64
	reached [tinyPointers]Access
}

var tinyBases = [tinyPointers + 1]uint64{0x3a51_77c0_0000, 0x5d08_e130_0000, 0x71c6_4b90_0000, 24}

func (v *tinyMachine) run() [tinyPointers]Access {
	v.memory = map[uint64]uint64{}
	rounds := 1 + v.rng.Intn(3)
	for i := 0; i < len(v.f.Body); i++ {
		in := &v.f.Body[i]
		switch holds := v.rng.Intn(2) == 0; {
		case in.Name == "bra" && in.Args[0].Name == "LOOP":
			if rounds--; rounds > 0 {
				i = in.Args[0].Target - 1
			}
		case in.Guard.Reg != ptx.NoReg && !holds:
		case in.Name == "bra":
			i = in.Args[0].Target - 1
		default:
			v.step(in)
		}
	}
	return v.reached
}

func (v *tinyMachine) reg(op *ptx.Operand) *uint64 {
	name := v.f.Regs[op.Reg].Name
	return &v.regs[name[len(name)-1]-'0']
}

func (v *tinyMachine) value(op *ptx.Operand) uint64 {
	if op.Kind == ptx.OpReg {
		return *v.reg(op)
	}
	return uint64(op.Imm)
}

// touch notes an access and returns the address.
func (v *tinyMachine) touch(op *ptx.Operand, access Access) uint64 {
	addr := *v.reg(op) + uint64(op.Imm)
	for i := range v.reached {
		if addr-tinyBases[i] < 1<<16 {
			v.reached[i] |= access
		}
	}
	return addr
}

func (v *tinyMachine) step(in *ptx.Inst) {
	a := in.Args
	switch in.Opcode() {
	case "ld.param.u64":
		*v.reg(&a[0]) = tinyBases[map[string]int{"p0": 0, "p1": 1, "p2": 2, "n": 3}[a[1].Var.Name]]
	case "add.s64":
		*v.reg(&a[0]) = v.value(&a[1]) + v.value(&a[2])
	case "sub.s64":
		*v.reg(&a[0]) = v.value(&a[1]) - v.value(&a[2])
	case "mul.lo.s64":
		*v.reg(&a[0]) = v.value(&a[1]) * v.value(&a[2])
	case "mad.lo.s64":
		*v.reg(&a[0]) = v.value(&a[1])*v.value(&a[2]) + v.value(&a[3])
	case "and.b64":
		*v.reg(&a[0]) = v.value(&a[1]) & v.value(&a[2])
	case "mov.u64", "cvta.to.global.u64":
		*v.reg(&a[0]) = v.value(&a[1])
	case "selp.b64":
		*v.reg(&a[0]) = v.value(&a[1+v.rng.Intn(2)])
	case "st.local.u64":
		v.local[a[0].Imm/8] = v.value(&a[1])
	case "ld.local.u64":
		*v.reg(&a[0]) = v.local[a[1].Imm/8]
	case "st.global.u64":
		v.memory[v.touch(&a[0], Write)] = v.value(&a[1])
	case "ld.global.u64":
		*v.reg(&a[0]) = v.memory[v.touch(&a[1], Read)]
	}
}
