package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// node is a block of a random control-flow graph. It computes x = x*mul + add. The program
// then ends if the thread's fuel is used up; otherwise it continues at one of two nodes,
// selected by a bit of x.
type node struct {
	mul, add, bit uint32
	yes, no       int
	leave         uint32 // threads with x%leave == 0 end here, 0 for none
}

// randomProgram makes a graph with any edges: loops, irreducible regions,
// branches into the middle of loops and early exits.
func randomProgram(r *rand.Rand) []node {
	p := make([]node, 3+r.IntN(14))
	for i := range p {
		p[i] = node{mul: r.Uint32() | 1, add: r.Uint32(), bit: r.Uint32N(32), yes: r.IntN(len(p)), no: r.IntN(len(p))}
		if r.IntN(3) > 0 {
			p[i].no = (i + 1) % len(p)
		}
		if r.IntN(4) == 0 {
			p[i].leave = 5 + r.Uint32N(20)
		}
	}
	return p
}

const fuel = 60

// trace is the reference: one thread, one step at a time.
func trace(p []node, x uint32) uint32 {
	for at, left := 0, fuel; ; {
		n := p[at]
		x = x*n.mul + n.add
		if left--; left == 0 || n.leave != 0 && x%n.leave == 0 {
			return x
		}
		if x>>n.bit&1 != 0 {
			at = n.yes
		} else {
			at = n.no
		}
	}
}

// assemble writes the graph as PTX. End is a bare exit or, for every other
// program, a block with work of its own.
func assemble(p []node, sharedEnd bool) string {
	var b strings.Builder
	b.WriteString("\n" + `.version 7.8
.target sm_75
.address_size 64
.visible .entry walk(.param .u64 data)
{
.reg .b32 %x, %fuel, %t; .reg .b64 %a, %i; .reg .pred %p;
ld.param.u64 %a, [data];
mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 4; add.s64 %a, %a, %i;
ld.global.u32 %x, [%a]; mov.u32 %fuel, 60;`)
	for i, n := range p {
		fmt.Fprintf(&b, "N%d:\nmad.lo.s32 %%x, %%x, %d, %d;\nadd.s32 %%fuel, %%fuel, -1;\n", i, int32(n.mul), int32(n.add))
		if sharedEnd {
			b.WriteString("\n" + "setp.eq.s32 %p, %fuel, 0;\n@%p bra END;")
		} else {
			b.WriteString("\n" + "st.global.u32 [%a], %x;\nsetp.eq.s32 %p, %fuel, 0;\n@%p ret;")
		}
		if n.leave != 0 {
			fmt.Fprintf(&b, "rem.u32 %%t, %%x, %d;\nsetp.eq.u32 %%p, %%t, 0;\n@%%p bra END;\n", n.leave)
		}
		fmt.Fprintf(&b, "shr.u32 %%t, %%x, %d;\nand.b32 %%t, %%t, 1;\nsetp.ne.u32 %%p, %%t, 0;\n@%%p bra N%d;\nbra N%d;\n", n.bit, n.yes, n.no)
	}
	b.WriteString("\n" + "END:")
	if sharedEnd {
		b.WriteString("\n" + "st.global.u32 [%a], %x;\nbar.sync 0;")
	}
	b.WriteString("\n" + "ret;\n}")
	return b.String()
}

func TestDivergenceAgreesWithSingleThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		p := randomProgram(r)
		src := assemble(p, round%2 == 0)
		x := make([]uint32, 1+r.IntN(70))
		for i := range x {
			x[i] = r.Uint32()
		}
		d := open(t, "walk.ptx", src)
		k := d.kernel("walk")
		k.spinLimit = int32(round % 4) // 1 to 3: fragments split all the time, as lanes that spin do
		data := buffer(d, "data", x)
		_, f := k.Run(d.mem, Launch{Grid: dims(1, 1, 1), Block: dims(uint32(len(x)), 1, 1), Params: params(data)})
		if f != nil {
			require.NoError(t, f, src)
		}
		for i, got := range contents[uint32](d, data) {
			require.Equal(t, trace(p, x[i]), got, "round %d thread %d\n%s", round, i, src)
		}
	}
}

// A loop that lanes leave one by one costs as many iterations as the longest
// lane takes, not their sum: the lanes that left wait at the loop's end.
func TestLanesMeetAfterALoop(t *testing.T) {
	d := open(t, "loop.ptx", `.version 7.8
.target sm_75
.address_size 64
.visible .entry loop(.param .u64 out)
{
.reg .b32 %n, %s, %t; .reg .b64 %a, %i; .reg .pred %p;
mov.u32 %t, %tid.x;
mov.u32 %n, %t;
mov.u32 %s, 0;
HEAD:
setp.eq.u32 %p, %n, 0;
@%p bra DONE;
add.s32 %s, %s, %n;
sub.s32 %n, %n, 1;
bra HEAD;
DONE:
ld.param.u64 %a, [out];
mul.wide.u32 %i, %t, 4;
add.s64 %a, %a, %i;
st.global.u32 [%a], %s;
ret;
}`)
	out := buffer(d, "out", make([]uint32, 32))
	s := d.run("loop", Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1), Params: params(out)})
	for i, got := range contents[uint32](d, out) {
		require.Equal(t, uint32(i*(i+1)/2), got)
	}
	require.Equal(t, int64(3+31*5+2+5), s.WarpInsts)
	require.Equal(t, int64(4), s.SectorsWrite)
}

// In a loop that only a return leaves, the sides of a branch still meet: the
// join runs once per iteration and not once per side.
func TestLanesMeetInsideALoopLeftByReturn(t *testing.T) {
	d := open(t, "forever.ptx", `.version 7.8
.target sm_75
.address_size 64
.visible .entry forever(.param .u64 out)
{
.reg .b32 %n, %s, %t, %o; .reg .b64 %a, %i; .reg .pred %p;
mov.u32 %t, %tid.x;
mov.u32 %n, 10;
mov.u32 %s, 0;
HEAD:
setp.eq.u32 %p, %n, 0;
@%p bra END;
and.b32 %o, %t, 1;
setp.eq.u32 %p, %o, 0;
@%p bra EVEN;
add.u32 %s, %s, 1;
bra JOIN;
EVEN:
add.u32 %s, %s, 2;
JOIN:
sub.s32 %n, %n, 1;
ld.param.u64 %a, [out];
mul.wide.u32 %i, %t, 4;
add.s64 %a, %a, %i;
st.global.u32 [%a], %s;
bra HEAD;
END:
ret;
}`)
	out := buffer(d, "out", make([]uint32, 32))
	s := d.run("forever", Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1), Params: params(out)})
	for i, got := range contents[uint32](d, out) {
		require.Equal(t, uint32(20-i%2*10), got)
	}
	require.Equal(t, int64(3+10*(2+3+2+1+6)+2), s.WarpInsts)
}
