package interp_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/interp/interptest"
)

// TestTileKernelsStayInTheirFootprints does so with random kernels on tiles of matrices, of which it also runs boxes of
// blocks. Their accesses have strides.
func TestTileKernelsStayInTheirFootprints(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 100
	}
	o := &interptest.Oracle{}
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		g := &tiles{rng: rng}
		r := newTrial(t, rng, o, fmt.Sprintf("tiles%d.ptx", seed), g.module())
		for range 3 {
			r.launchTiles(false)
			r.launchTiles(true)
		}
	}
	t.Log(o.Tally)
	require.Greater(t, o.Launches, 4*n, "too few launches run")
	require.Greater(t, o.Strided, o.Spans/4, "too few accesses have strides")
	require.Greater(t, o.Tight, o.Strided/3, "too few accesses with strides have no bytes but those touched")
}

// launchTiles runs the kernel, or a box of its blocks, and compares.
func (r *trial) launchTiles(part bool) {
	pick := func(list ...uint32) uint32 { return list[r.rng.IntN(len(list))] }
	f := r.tree.Func("whole")
	block := make([]byte, f.ParamBytes())
	binary.LittleEndian.PutUint64(block, r.buffers[0]+trialBytes/2)
	binary.LittleEndian.PutUint64(block[8:], r.buffers[1]+trialBytes/2)
	for i, x := range []uint32{pick(0, 1, 7, 16, 33, 64), pick(3, 8, 11, 100), pick(1, 5, 12, 100), pick(0, 2, 9)} {
		binary.LittleEndian.PutUint32(block[16+4*i:], x)
	}
	l := &interptest.Launch{Tree: r.tree, Entry: "whole", Code: r.code, Memory: r.memory, Launch: interp.Launch{
		Params: block, Record: &interp.Record{}, StepLimit: 20_000,
		Grid: [3]uint32{pick(1, 2, 3), pick(1, 2, 4), pick(1, 2)}, Block: [3]uint32{pick(4, 8), pick(1, 4, 5), pick(1, 2)},
	}}
	entry := "whole"
	if part {
		entry = "part"
		box, _, err := r.code.Global("box")
		require.NoError(r.t, err)
		data, err := r.memory.Bytes(box, 24)
		require.NoError(r.t, err)
		for axis, blocks := range l.Grid {
			l.First[axis] = r.rng.Uint32N(blocks)
			l.Count[axis] = 1 + r.rng.Uint32N(blocks-l.First[axis])
			binary.LittleEndian.PutUint32(data[8*axis:], l.First[axis])
			binary.LittleEndian.PutUint32(data[8*axis+4:], l.Count[axis])
		}
	}
	k, err := r.code.Kernel(entry)
	require.NoError(r.t, err)
	if _, fault := k.Run(r.memory, l.Launch); fault == nil {
		require.NoError(r.t, r.oracle.Check(l))
	}
}

// tiles writes random kernels whose addresses are sums of indices with strides.
type tiles struct {
	rng    *rand.Rand
	b      strings.Builder
	values []string // registers of the body that indices are made of
	next   int      // number of registers
	loops  int
}

const tilesHead = `.version 7.8
.target sm_75
.address_size 64
.global .align 8 .u32 box[6];
`

// tilesEntry loads the indices. Both kernels load the box of blocks, so that their accesses to it are the same.
const tilesEntry = `.visible .entry %s(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m, .param .u32 q, .param .u32 l)
{
.reg .pred %%p<64>; .reg .b32 %%r<256>; .reg .b64 %%rd<128>; .reg .f32 %%f<4>; .reg .b64 %%x<2>; .reg .b32 %%b<8>;
ld.param.u64 %%x0, [a]; ld.param.u64 %%x1, [b]; ld.param.u32 %%r0, [n]; ld.param.u32 %%r1, [m]; ld.param.u32 %%r2, [q]; ld.param.u32 %%r3, [l];
mov.u32 %%r4, %%ctaid.x; mov.u32 %%r5, %%ntid.x; mov.u32 %%r6, %%tid.x; mad.lo.s32 %%r7, %%r4, %%r5, %%r6;
mov.u32 %%r8, %%ctaid.y; mov.u32 %%r9, %%ntid.y; mov.u32 %%r10, %%tid.y; mad.lo.s32 %%r11, %%r8, %%r9, %%r10;
mov.u32 %%r12, %%ctaid.z; mov.u32 %%r13, %%tid.z; mov.u32 %%r14, %%nctaid.x; mul.lo.s32 %%r15, %%r14, %%r5;
mov.f32 %%f0, 0f3F800000;
ld.global.u32 %%b0, [box]; ld.global.u32 %%b1, [box+4]; ld.global.u32 %%b2, [box+8]; ld.global.u32 %%b3, [box+12]; ld.global.u32 %%b4, [box+16]; ld.global.u32 %%b5, [box+20];
`

// outsideBox ends the blocks outside the box.
const outsideBox = `sub.u32 %b6, %r4, %b0; setp.ge.u32 %p0, %b6, %b1; @%p0 ret;
sub.u32 %b6, %r8, %b2; setp.ge.u32 %p0, %b6, %b3; @%p0 ret;
sub.u32 %b6, %r12, %b4; setp.ge.u32 %p0, %b6, %b5; @%p0 ret;
`

// module returns a module of two kernels: whole, and part, in which the blocks outside a box end at once.
func (g *tiles) module() string {
	g.next = 16
	g.values = []string{"%r7", "%r11", "%r6", "%r10", "%r4", "%r8", "%r12", "%r13", "%r3"}
	g.body(0)
	body := g.b.String()
	return tilesHead + fmt.Sprintf(tilesEntry, "whole") + body + "END: ret;\n}\n" +
		fmt.Sprintf(tilesEntry, "part") + outsideBox + body + "END: ret;\n}\n"
}

func (g *tiles) f(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

func (g *tiles) pick(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *tiles) value() string { return g.pick(g.values...) }

func (g *tiles) reg() string { g.next++; return fmt.Sprintf("%%r%d", g.next) }

// body writes guards, a loop perhaps, and accesses.
func (g *tiles) body(depth int) {
	if g.rng.IntN(2) == 0 {
		g.f("setp.%s.s32 %%p1, %s, %s; @%%p1 bra END;", g.pick("ge", "gt"), g.value(), g.pick("%r1", "%r2", "7"))
	}
	if depth < 2 && g.rng.IntN(2) == 0 {
		g.loop(depth)
	}
	for range 1 + g.rng.IntN(2) {
		g.access()
	}
}

// loop writes a loop over an index, that of the threads of the grid or one from 0 on. A second index grows by a stride. The
// loop tests at its beginning, or at its end.
func (g *tiles) loop(depth int) {
	g.loops++
	k, v, label, first := g.reg(), g.reg(), fmt.Sprintf("L%d", g.loops), g.rng.IntN(2) == 0
	step, bound := g.pick("1", "2", "8", "%r5", "%r15"), g.pick("%r1", "%r2", "5")
	g.f("mov.u32 %s, %s; mov.u32 %s, %s;\n%s:", k, g.pick("0", "%r6", "%r7", "%r10"), v, g.pick("0", "%r6", "%r11"), label)
	if first {
		g.f("setp.ge.s32 %%p2, %s, %s; @%%p2 bra D%s;", k, bound, label)
	}
	g.values = append(g.values, k, k, v, v)
	g.access()
	if depth == 0 && g.rng.IntN(3) == 0 {
		g.loop(depth + 1)
	}
	g.values = g.values[:len(g.values)-4]
	g.f("add.s32 %s, %s, %s; add.s32 %s, %s, %s;", v, v, g.pick("%r0", "40", "-3"), k, k, step)
	if first {
		g.f("bra %s;\nD%s:", label, label)
		return
	}
	g.f("setp.lt.s32 %%p2, %s, %s; @%%p2 bra %s;", k, bound, label)
}

// access writes a load or a store at row·pitch + column, perhaps + plane·size, and some of its neighbours.
func (g *tiles) access() {
	sum := g.reg()
	g.f("mad.lo.s32 %s, %s, %s, %s;", sum, g.value(), g.pick("%r0", "%r0", "40", "-24"), g.value())
	switch g.rng.IntN(4) {
	case 0:
		g.f("mad.lo.s32 %s, %s, %s, %s;", sum, g.value(), g.pick("%r0", "500", "3"), sum)
	case 1:
		other := g.reg()
		g.f("setp.lt.s32 %%p3, %s, 3; add.s32 %s, %s, %s; selp.b32 %s, %s, %s, %%p3;", g.value(), other, sum, g.pick("%r0", "1", "64"), sum, sum, other)
	case 2:
		g.f("and.b32 %s, %s, %s;", sum, sum, g.pick("-4", "1023"))
	}
	at := g.rng.IntN(2)
	n := g.next
	g.f("mul.wide.s32 %%rd%d, %s, %s; add.s64 %%rd%d, %%x%d, %%rd%d;", n%60, sum, g.pick("4", "4", "8", "16"), 60+n%60, at, n%60)
	for range 1 + g.rng.IntN(3) {
		offset := g.pick("0", "4", "-4", "160", "-160", "2000")
		if g.rng.IntN(2) == 0 {
			g.f("ld.global.f32 %%f1, [%%rd%d+%s];", 60+n%60, offset)
		} else {
			g.f("st.global.f32 [%%rd%d+%s], %%f0;", 60+n%60, offset)
		}
	}
}
