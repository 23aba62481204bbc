package calibrate

import (
	"fmt"
	"math"
	"strings"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// The kernels are generated here as PTX, because most repeat a single instruction. ptxas must not be able to optimize
// them: each repetition depends on the previous one and on parameters with unknown values, and the result is stored
// to memory, where it is checked.
//
// Each kernel takes the address of its output, a number of iterations and four words, all 1. Chains start from
// different numbers, so that they cannot be merged.

const (
	steps  = 64 // of each chain per iteration
	chains = 4  // per thread
)

// rate is a kernel bound by one unit: chains of its instruction, enough of them to hide latency.
type rate struct {
	unit  unit.Unit
	reg   string                      // type of register X of the chain
	begin string                      // sets X from the seed %s, a number of the thread and chain; %p0 to %p3 hold 1
	step  string                      // repeated instructions
	count int                         // instructions of the unit per step
	alu   int                         // instructions of the integer unit per step, in addition
	end   string                      // converts X to the word %r
	want  func(seed, n uint32) uint32 // %r after n steps
}

// same returns the final X of n steps that do not change it.
func same(seed, _ uint32) uint32 { return seed }

// counting returns the final X of n steps that add 1.
func counting(seed, n uint32) uint32 { return seed + n }

// asFloat is the result of converting the bits, as an integer, to a float n times. It stops at the fixed point.
func asFloat(seed, _ uint32) uint32 {
	for {
		next := math.Float32bits(float32(seed))
		if next == seed {
			return seed
		}
		seed = next
	}
}

var rates = []rate{
	{unit.FP32, "f32", "cvt.rn.f32.u32 X, %s;", "fma.rn.f32 X, X, %f0, %f1;", 1, 0, "cvt.rzi.u32.f32 %r, X;", counting},
	{unit.FP64, "f64", "cvt.rn.f64.u32 X, %s;", "fma.rn.f64 X, X, %d0, %d1;", 1, 0, "cvt.rzi.u32.f64 %r, X;", counting},
	{unit.FP16, "b32", "mov.b32 X, %s;", "fma.rn.f16x2 X, X, %h1, %h0;", 1, 0, "mov.b32 %r, X;", same},
	// Two instructions with three operands each have five inputs together, so they cannot be merged into one.
	{unit.Integer, "b32", "mov.b32 X, %s;", "lop3.b32 X, X, %p0, %p1, 0x96;\n\tlop3.b32 X, X, %p2, %p3, 0x96;", 2, 0, "mov.b32 %r, X;", same},
	{unit.Multiply, "u32", "mov.u32 X, %s;", "mad.lo.u32 X, X, %p0, %p1;", 1, 0, "mov.u32 %r, X;", counting},
	// The values are 0, 1, 2, 4, 16, 65536 and then infinity.
	{unit.Special, "f32", "cvt.rn.f32.u32 X, %s;", "ex2.approx.ftz.f32 X, X;", 1, 0, "mov.b32 %r, X;",
		func(uint32, uint32) uint32 { return 0x7f800000 }},
	// A conversion back to an integer would be recognized as the identity.
	{unit.Convert, "b32", "mov.b32 X, %s;", "cvt.rn.f32.u32 X, X;", 1, 0, "mov.b32 %r, X;", asFloat},
	{unit.Convert64, "b32", "mov.b32 X, %s;", "cvt.rn.f64.u32 %d2, X;\n\tcvt.rzi.u32.f64 X, %d2;", 2, 0, "mov.b32 %r, X;", same},
	{unit.Bits, "b32", "mov.b32 X, %s;", "popc.b32 X, X;", 1, 0, "mov.b32 %r, X;",
		func(seed, _ uint32) uint32 { return min(seed, 1) }},
	// Each thread's word of shared memory holds its own address.
	{unit.Memory, "b32", "mov.u32 X, tile;\n\tmad.lo.u32 X, %s, 4, X;\n\tst.shared.u32 [X], X;", "ld.shared.u32 X, [X];", 1, 0,
		"mov.u32 %r, tile;\n\tsub.u32 %r, X, %r;\n\tshr.u32 %r, %r, 2;", same},
	{unit.Shuffle, "b32", "mov.b32 X, %s;", "shfl.sync.bfly.b32 X, X, 1, 31, -1;", 1, 0, "mov.b32 %r, X;", same},
	// A vote with a predicate as result takes several instructions on some devices.
	{unit.Vote, "pred", "setp.ge.u32 X, %s, %h0;", "vote.sync.ballot.b32 %r, X, -1;\n\tsetp.ne.u32 X, %r, %h0;", 1, 1, "selp.u32 %r, %p0, 0, X;",
		func(uint32, uint32) uint32 { return 1 }},
}

// modulePTX returns the module of the kernels for a compute capability. The target of PTX is the least device that it
// runs on, and some drivers refuse the oldest.
func modulePTX(major, minor int) string {
	target := "sm_60"
	switch {
	case major > 7 || major == 7 && minor >= 5:
		target = "sm_75"
	case major == 7:
		target = "sm_70"
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".version 6.3\n.target %s\n.address_size 64\n\n", target)
	for i := range rates {
		b.WriteString(rates[i].ptx())
	}
	if major >= 7 {
		b.WriteString(tensorPTX())
	}
	b.WriteString(otherPTX())
	return b.String()
}

const entryPTX = `.visible .entry NAME(.param .u64 NAME_out, .param .u32 NAME_n, .param .u32 NAME_p0,
	.param .u32 NAME_p1, .param .u32 NAME_p2, .param .u32 NAME_p3)
{
	.reg .pred %again;
	.reg .b16 %hh<2>;
	.reg .b32 %t, %s, %n, %r, %sum, %p<4>, %h<2>;
	.reg .f32 %f<2>;
	.reg .f64 %d<3>;
	.reg .b64 %out, %at;
DECLARE
	ld.param.u64 %out, [NAME_out];
	ld.param.u32 %n, [NAME_n];
	ld.param.u32 %p0, [NAME_p0];
	ld.param.u32 %p1, [NAME_p1];
	ld.param.u32 %p2, [NAME_p2];
	ld.param.u32 %p3, [NAME_p3];
	mov.u32 %t, %tid.x;
	cvt.rn.f32.u32 %f0, %p0;
	cvt.rn.f32.u32 %f1, %p1;
	cvt.rn.f64.u32 %d0, %p0;
	cvt.rn.f64.u32 %d1, %p1;
	sub.u32 %h0, %p0, %p1;
	cvt.rn.f16.u32 %hh0, %p0;
	mov.b32 %h1, {%hh0, %hh0};
BEGIN
LOOP:
	.pragma "nounroll";
STEPS
	sub.u32 %n, %n, 1;
	setp.ne.u32 %again, %n, 0;
	@%again bra LOOP;
	mov.u32 %sum, 0;
END
	cvta.to.global.u64 %out, %out;
	mul.wide.u32 %at, %t, 4;
	add.u64 %out, %out, %at;
	st.global.u32 [%out], %sum;
	ret;
}

`

func (k *rate) ptx() string {
	declare := fmt.Sprintf("\t.reg .%s %%x<%d>;\n", k.reg, chains)
	if k.unit == unit.Memory {
		declare += "\t.shared .align 4 .b8 tile[16384];\n"
	}
	var begin, body, end strings.Builder
	for c := range chains {
		x := fmt.Sprintf("%%x%d", c)
		fmt.Fprintf(&begin, "\tadd.u32 %%s, %%t, %d;\n\t%s\n", c*blockThreads, strings.ReplaceAll(k.begin, "X", x))
		fmt.Fprintf(&end, "\t%s\n\tmad.lo.u32 %%sum, %%sum, 3, %%r;\n", strings.ReplaceAll(k.end, "X", x))
	}
	for range steps {
		for c := range chains {
			fmt.Fprintf(&body, "\t%s\n", strings.ReplaceAll(k.step, "X", fmt.Sprintf("%%x%d", c)))
		}
	}
	return entry(k.unit.String(), declare, begin.String(), body.String(), end.String())
}

func entry(name, declare, begin, body, end string) string {
	return strings.NewReplacer("NAME", "rate_"+name, "DECLARE\n", declare, "BEGIN\n", begin, "STEPS\n", body, "END\n", end).Replace(entryPTX)
}

// sum returns the value that a thread stores after n steps: the sum of the chains' results, each times 3 to the power
// of the number of later chains.
func (k *rate) sum(thread, n uint32) (s uint32) {
	for c := range uint32(chains) {
		s = 3*s + k.want(thread+c*blockThreads, n)
	}
	return s
}

// tensor multiplies 16 by 16 matrices of ones: each product adds 16 to every element of its accumulator. It is not in
// the table, because its chain is eight registers.
const (
	tensorChains = 4
	tensorSteps  = 16
)

func tensorPTX() string {
	list := func(name string) string {
		var regs []string
		for i := range 8 {
			regs = append(regs, fmt.Sprintf("%%%s%d", name, i))
		}
		return "{" + strings.Join(regs, ", ") + "}"
	}
	declare := "\t.reg .b32 %m<8>;\n"
	var begin, body, end strings.Builder
	for i := range 8 {
		fmt.Fprintf(&begin, "\tmov.b32 %%m%d, %%h1;\n", i)
	}
	for c := range tensorChains {
		declare += fmt.Sprintf("\t.reg .f32 %%x%d_<8>;\n", c)
		for i := range 8 {
			fmt.Fprintf(&begin, "\tmov.f32 %%x%d_%d, 0f%08x;\n", c, i, math.Float32bits(float32(c)))
			fmt.Fprintf(&end, "\tcvt.rzi.u32.f32 %%r, %%x%d_%d;\n\tadd.u32 %%sum, %%sum, %%r;\n", c, i)
		}
	}
	for range tensorSteps {
		for c := range tensorChains {
			x := list(fmt.Sprintf("x%d_", c))
			fmt.Fprintf(&body, "\twmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 %s, %s, %s, %s;\n", x, list("m"), list("m"), x)
		}
	}
	return entry(unit.Tensor.String(), declare, begin.String(), body.String(), end.String())
}

// tensorSum returns the value that a thread of the tensor kernel stores after n steps.
func tensorSum(_, n uint32) (s uint32) {
	for c := range uint32(tensorChains) {
		s += 8 * (16*n + c)
	}
	return s
}
