package interp_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/interp/interptest"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

// The inference of package ptx against what kernels do. A launch that faults says
// nothing, so buffers are large and pointers lead to their middle.

// trial launches the kernels of one module on memory of its own.
type trial struct {
	t      testing.TB
	rng    *rand.Rand
	oracle *interptest.Oracle
	tree   *ptx.Module
	code   *interp.Module
	memory *interp.Memory

	buffers []uint64
	ran     int // without a fault
}

const (
	trialBuffers = 4
	trialBytes   = 1 << 18
)

// newTrial returns nil for a module that does not load.
func newTrial(t testing.TB, rng *rand.Rand, o *interptest.Oracle, file, source string) *trial {
	tree, err := ptx.Parse(file, source)
	require.NoError(t, err, "%s", source)
	r := &trial{t: t, rng: rng, oracle: o, tree: tree, memory: interp.NewMemory(1 << 28)}
	if r.code, err = interp.LoadModule(r.memory, tree); err != nil {
		return nil
	}
	for i := range trialBuffers {
		addr, err := r.memory.Alloc(trialBytes, fmt.Sprintf("buffer %d", i))
		require.NoError(t, err)
		r.memory.Skip(1 << 38)
		r.buffers = append(r.buffers, addr)
		data, err := r.memory.Bytes(addr, trialBytes)
		require.NoError(t, err)
		for k := 0; k < len(data); k += 4 {
			binary.LittleEndian.PutUint32(data[k:], uint32(rng.IntN(64)))
		}
	}
	return r
}

// pointer leads near the middle of a buffer.
func (r *trial) pointer() uint64 {
	return r.buffers[r.rng.IntN(len(r.buffers))] + trialBytes/2 + uint64(16*r.rng.IntN(4))
}

// awkward are numbers at which index arithmetic goes wrong.
var awkward = []int64{0, 1, -1, 2, 5, 7, -7, 31, 32, 33, 64, 100, 127, 1000, -32, 65535, 65536, math.MaxInt32, math.MinInt32, 1 << 31, math.MaxUint32}

func (r *trial) number() uint64 { return uint64(awkward[r.rng.IntN(len(awkward))]) }

// params fills a parameter block: pointers where the kernel follows them, awkward
// numbers elsewhere, small ones as often.
func (r *trial) params(f *ptx.Func, effects *access.Effects) []byte {
	block := make([]byte, f.ParamBytes()+8)
	for i := 0; i+4 <= len(block); i += 4 {
		v := r.number()
		if r.rng.IntN(2) == 0 {
			v = uint64(r.rng.IntN(80))
		}
		binary.LittleEndian.PutUint32(block[i:], uint32(v))
	}
	for _, p := range f.Params {
		if p.Size() == 1 { // may be an index into a table of the module, over whose end lies another
			block[p.Offset] = byte(r.rng.IntN(3))
		}
		if p.Size() == 8 { // a number, or an address
			v := r.number()
			if p.Ptr.Present || r.rng.IntN(3) == 0 {
				v = r.pointer()
			}
			binary.LittleEndian.PutUint64(block[p.Offset:], v)
		}
	}
	for _, p := range effects.Params {
		if p.Access != access.None && p.Field >= 0 {
			binary.LittleEndian.PutUint64(block[f.Params[p.Param].Offset+p.Field:], r.pointer())
		}
	}
	return block[:f.ParamBytes()]
}

func (r *trial) extents() (grid, block [3]uint32) {
	pick := func(list ...uint32) uint32 { return list[r.rng.IntN(len(list))] }
	switch r.rng.IntN(4) {
	case 0:
		return [3]uint32{pick(1, 2, 3), pick(1, 2, 3), pick(1, 2)}, [3]uint32{pick(1, 5, 8), pick(1, 4, 7), pick(1, 2)}
	case 1:
		return [3]uint32{pick(1, 2, 5), pick(1, 3), 1}, [3]uint32{pick(8, 16), pick(8, 16), 1}
	}
	return [3]uint32{pick(1, 2, 3, 7), 1, 1}, [3]uint32{pick(1, 7, 32, 33, 64, 128, 256), 1, 1}
}

// launch runs the kernel once and compares.
func (r *trial) launch(f *ptx.Func) {
	k, err := r.code.Kernel(f.Name)
	require.NoError(r.t, err)
	fp := r.oracle.Footprint(r.tree, f)
	l := &interptest.Launch{Tree: r.tree, Entry: f.Name, Code: r.code, Memory: r.memory, Launch: interp.Launch{
		Params: r.params(f, fp.Effects), Shared: 4096, StepLimit: 20_000, Record: &interp.Record{},
	}}
	l.Grid, l.Block = r.extents()
	if f.ReqThreads[0] > 0 {
		l.Block = f.ReqThreads
	}
	if _, fault := k.Run(r.memory, l.Launch); fault != nil {
		return
	}
	r.ran++
	require.NoError(r.t, r.oracle.Check(l))
}

// TestKernelsStayInTheirFootprints launches every kernel of the repository with random
// shapes and numbers.
func TestKernelsStayInTheirFootprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	o := &interptest.Oracle{}
	kernels, ran, launches := 0, 0, 6
	if testing.Short() {
		launches = 3
	}
	for _, pattern := range []string{"../../internal/kernels", "../../internal/sim/testdata/kernels", "testdata", "../ptx/testdata", "../../device/devicetest", "../../examples/*"} {
		files, err := filepath.Glob(pattern + "/*.ptx")
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			r := newTrial(t, rng, o, filepath.Base(file), string(source))
			if r == nil {
				continue
			}
			for _, f := range r.tree.Funcs {
				if !f.Entry || f.Extern {
					continue
				}
				before := r.ran
				for range launches {
					r.launch(f)
				}
				if kernels++; r.ran > before {
					ran++
				}
			}
		}
	}
	t.Logf("%d of %d kernels ran: %s", ran, kernels, o.Tally)
	require.Greater(t, ran, kernels*2/3, "too few kernels run")
}

// TestRandomKernelsStayInTheirFootprints does so with random kernels of index
// arithmetic, guards and loops.
func TestRandomKernelsStayInTheirFootprints(t *testing.T) {
	n := 500
	if testing.Short() {
		n = 150
	}
	o := &interptest.Oracle{}
	ran := 0
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		g := &affine{rng: rng}
		r := newTrial(t, rng, o, fmt.Sprintf("seed%d.ptx", seed), g.kernel())
		for range 4 {
			r.launch(r.tree.Funcs[0])
		}
		ran += r.ran
	}
	t.Logf("%d launches ran: %s", ran, o.Tally)
	require.Greater(t, ran, n, "too few launches run")
	require.Greater(t, o.Spans-o.Whole, o.Spans/4, "too few claims say anything")
}

// affine writes random kernels.
type affine struct {
	rng    *rand.Rand
	b      strings.Builder
	labels int
	budget int
}

const affineHead = `.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m, .param .u64 l)
{
.reg .pred %p<4>, %q, %g; .reg .b32 %r<12>, %c<8>, %s; .reg .b64 %rd<8>, %x<4>, %t, %u, %v; .reg .b16 %h;
ld.param.u64 %x0, [a]; ld.param.u64 %x1, [b]; cvta.to.global.u64 %x0, %x0; cvta.to.global.u64 %x1, %x1; mov.u64 %x2, %x0; mov.u64 %x3, %x1;
ld.param.u32 %r0, [n]; ld.param.u32 %r1, [m]; ld.param.u64 %rd0, [l];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r3, %r4, %r2;
mov.u32 %r6, %tid.y; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x; mul.lo.s32 %r9, %r4, %r8;
mov.u32 %r10, 0; mov.u32 %r11, 1; cvt.s64.s32 %rd1, %r5; cvt.u64.u32 %rd2, %r2;
mov.u64 %rd3, 0; mov.u64 %rd4, 8; mov.u64 %rd5, 1; mov.u64 %rd6, -1; mov.u64 %rd7, %rd1;
setp.lt.s32 %p0, %r5, %r0; setp.ne.s32 %p1, %r2, 0; setp.gt.s32 %p2, %r0, 3; setp.eq.s32 %p3, %r1, 1;
`

func (g *affine) kernel() string {
	g.b.WriteString(affineHead)
	g.budget = 8 + g.rng.IntN(16)
	g.statements(0)
	g.access()
	g.b.WriteString("ret;\n}\n")
	return g.b.String()
}

func (g *affine) f(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

func (g *affine) pick(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *affine) reg() string  { return fmt.Sprintf("%%r%d", g.rng.IntN(12)) }
func (g *affine) wide() string { return fmt.Sprintf("%%rd%d", g.rng.IntN(8)) }
func (g *affine) pred() string { return fmt.Sprintf("%%p%d", g.rng.IntN(4)) }

// dst is a register that a kernel computes: not those that hold its parameters.
func (g *affine) dst() string     { return fmt.Sprintf("%%r%d", 2+g.rng.IntN(10)) }
func (g *affine) wideDst() string { return fmt.Sprintf("%%rd%d", 1+g.rng.IntN(7)) }

// src is a 32-bit register or constant.
func (g *affine) src() string {
	if g.rng.IntN(3) > 0 {
		return g.reg()
	}
	return g.pick("0", "1", "-1", "2", "3", "4", "7", "16", "31", "32", "100", "1023", "65535", "0x7fffffff", "0x80000000", "-4")
}

func (g *affine) wideSrc() string {
	if g.rng.IntN(3) > 0 {
		return g.wide()
	}
	return g.pick("0", "1", "-1", "4", "8", "-8", "64", "255", "0x100000000", "0x7fffffffffffffff")
}

func (g *affine) statements(depth int) {
	for n := 2 + g.rng.IntN(5); n > 0 && g.budget > 0; n-- {
		g.budget--
		switch k := g.rng.IntN(12); {
		case k < 4:
			g.narrowOp()
		case k < 6:
			g.wideOp()
		case k < 8:
			g.access()
		case k == 8:
			g.compare(g.pred())
		case k == 9 && depth < 3:
			g.branch(depth)
		case k >= 10 && depth < 2:
			g.loop(depth)
		default:
			g.advance()
		}
	}
}

// guard is "@p " at times.
func (g *affine) guard() string {
	switch g.rng.IntN(8) {
	case 0:
		return "@" + g.pred() + " "
	case 1:
		return "@!" + g.pred() + " "
	}
	return ""
}

func (g *affine) narrowOp() {
	d, x, y := g.dst(), g.reg(), g.src()
	at := g.guard()
	switch g.rng.IntN(16) {
	case 0, 1, 2:
		g.f("%sadd.s32 %s, %s, %s;", at, d, x, y)
	case 3:
		g.f("%ssub.s32 %s, %s, %s;", at, d, x, y)
	case 4, 5:
		g.f("%smul.lo.s32 %s, %s, %s;", at, d, x, y)
	case 6:
		g.f("%smad.lo.s32 %s, %s, %s, %s;", at, d, x, y, g.reg())
	case 7:
		g.f("%sshl.b32 %s, %s, %s;", at, d, x, g.pick("1", "2", "5", "31", "32", g.reg()))
	case 8:
		g.f("%sshr.%s %s, %s, %s;", at, g.pick("s32", "u32"), d, x, g.pick("1", "2", "5", "31", g.reg()))
	case 9:
		g.f("%sand.b32 %s, %s, %s;", at, d, x, g.pick("3", "15", "1023", "-4", "-256", "10", y))
	case 10:
		g.f("%s%s.b32 %s, %s, %s;", at, g.pick("or", "xor"), d, x, y)
	case 11:
		g.f("%s%s.%s %s, %s, %s;", at, g.pick("min", "max"), g.pick("s32", "u32"), d, x, y)
	case 12:
		g.f("%s%s.%s %s, %s, %s;", at, g.pick("div", "rem"), g.pick("s32", "u32"), d, x, g.pick("3", "4", "10", "-3", "1000", "%r4", "%r9"))
	case 13:
		g.f("%s%s %s, %s;", at, g.pick("neg.s32", "abs.s32", "not.b32"), d, x)
	case 14:
		g.f("selp.b32 %s, %s, %s, %s;", d, x, y, g.pred())
	case 15:
		if g.rng.IntN(2) == 0 {
			g.f("cvt.u16.u32 %%h, %s; cvt.%s %s, %%h;", x, g.pick("u32.u16", "s32.s16", "u32.u8", "s32.s8"), d)
		} else {
			g.f("mul.hi.%s %s, %s, %s;", g.pick("s32", "u32"), d, x, y)
		}
	}
}

func (g *affine) wideOp() {
	d, x, y := g.wideDst(), g.wide(), g.wideSrc()
	at := g.guard()
	switch g.rng.IntN(13) {
	case 0, 1:
		g.f("%sadd.s64 %s, %s, %s;", at, d, x, y)
	case 2:
		g.f("%ssub.s64 %s, %s, %s;", at, d, x, y)
	case 3, 4:
		g.f("%smul.wide.%s %s, %s, %s;", at, g.pick("s32", "u32"), d, g.reg(), g.pick("4", "8", "1", "-4", "16"))
	case 5:
		g.f("%scvt.%s %s, %s;", at, g.pick("s64.s32", "u64.u32"), d, g.reg())
	case 6:
		g.f("%smul.lo.s64 %s, %s, %s;", at, d, x, y)
	case 7:
		g.f("%sshl.b64 %s, %s, %s;", at, d, x, g.pick("2", "3", "32"))
	case 8:
		g.f("%sshr.%s %s, %s, %s;", at, g.pick("s64", "u64"), d, x, g.pick("2", "3", "32", "63"))
	case 9:
		g.f("%sand.b64 %s, %s, %s;", at, d, x, g.pick("255", "4095", "-16", y))
	case 10:
		g.f("%s%s.%s %s, %s, %s;", at, g.pick("min", "max", "rem", "div"), g.pick("s64", "u64"), d, x, g.pick("100", "4096", "7"))
	case 11:
		g.f("%scvt.u32.u64 %s, %s;", at, g.dst(), x)
	case 12:
		g.f("mov.b64 %s, {%s, %s};", d, g.reg(), g.pick("%r10", g.reg()))
	}
}

func (g *affine) compare(p string) {
	typ := g.pick("s32", "s32", "s32", "u32", "s64", "u64")
	x, y := g.reg(), g.src()
	if typ[1:] == "64" {
		x, y = g.wide(), g.wideSrc()
	}
	cmp := g.pick("lt", "le", "gt", "ge", "eq", "ne")
	switch g.rng.IntN(7) {
	case 6:
		g.f("cvt.u32.u64 %%s, %s; setp.%s.%s %s, %%s, %s;", g.wide(), cmp, g.pick("s32", "u32"), p, g.src())
	case 0:
		g.f("setp.%s.%s.%s %s, %s, %s, %s%s;", cmp, g.pick("and", "or"), typ, p, x, y, g.pick("", "!"), g.pred())
	case 1:
		g.f("setp.%s.%s %s|%%q, %s, %s; %s.pred %s, %%q, %s;", cmp, typ, p, x, y, g.pick("and", "or"), p, g.pred())
	case 2:
		g.f("or.b32 %%s, %s, %s; setp.%s.s32 %s, %%s, 0;", g.reg(), g.reg(), g.pick("lt", "ge"), p)
	case 3:
		g.f("setp.%s.%s %s, %s, %s; not.pred %s, %s;", cmp, typ, p, x, y, p, p)
	default:
		g.f("setp.%s.%s %s, %s, %s;", cmp, typ, p, x, y)
	}
}

func (g *affine) label() string {
	g.labels++
	return fmt.Sprintf("L%d", g.labels)
}

// branch is an if, with an else at times; a branch to the end of the kernel too.
func (g *affine) branch(depth int) {
	p := g.pred()
	g.compare(p)
	if g.rng.IntN(4) == 0 {
		g.f("@%s%s %s;", g.pick("", "!"), p, g.pick("ret", "exit"))
		return
	}
	other, end := g.label(), g.label()
	g.f("@%s%s bra %s;", g.pick("", "!"), p, other)
	g.statements(depth + 1)
	if g.rng.IntN(2) == 0 {
		g.f("bra %s;", end)
		g.f("%s:", other)
		g.statements(depth + 1)
		g.f("%s:", end)
		return
	}
	g.f("%s:", other)
}

// loop counts a register of its own up or down to a bound, tested on top or at the
// bottom; half of the loops have a second way out that ends them in time.
func (g *affine) loop(depth int) {
	n := 2*depth + g.rng.IntN(2)
	c, fuel := fmt.Sprintf("%%c%d", n), fmt.Sprintf("%%c%d", n+4)
	top, out := g.label(), g.label()
	g.f("mov.u32 %s, %s;", c, g.src())
	g.f("mov.u32 %s, %d;", fuel, 1+g.rng.IntN(9))
	step := g.pick("1", "1", "2", "4", "-1", "-4", "%r4", "%r9", g.reg())
	cond := fmt.Sprintf("setp.%s.%s %%g, %s, %s;", g.pick("lt", "lt", "le", "ne", "gt", "ge"), g.pick("s32", "s32", "u32"), c, g.pick("%r0", "%r1", "0", "16", g.src()))
	onTop := g.rng.IntN(2) == 0
	if !onTop && g.rng.IntN(2) == 0 {
		g.f("%s @!%%g bra %s;", cond, out)
	}
	g.f("%s:", top)
	if onTop {
		g.f("%s @!%%g bra %s;", cond, out)
	}
	g.f("mov.u32 %s, %s;", g.dst(), c)
	g.statements(depth + 1)
	if g.rng.IntN(2) == 0 {
		g.advance()
	}
	g.f("add.s32 %s, %s, %s;", c, c, step)
	if g.rng.IntN(4) > 0 {
		g.f("add.s32 %s, %s, -1; setp.eq.s32 %%q, %s, 0; @%%q bra %s;", fuel, fuel, fuel, out)
	}
	if onTop {
		g.f("bra %s;", top)
	} else {
		g.f("%s @%%g bra %s;", cond, top)
	}
	g.f("%s:", out)
}

// advance moves a pointer.
func (g *affine) advance() {
	p := g.pick("%x2", "%x3")
	switch g.rng.IntN(5) {
	case 0:
		g.f("mov.u64 %s, %s;", p, g.pick("%x0", "%x1"))
	case 1:
		g.f("mul.wide.s32 %%t, %s, 4; add.s64 %s, %s, %%t;", g.reg(), p, p)
	case 2:
		g.f("selp.b64 %s, %s, %s, %s;", p, p, g.pick("%x0", "%x1"), g.pred())
	default:
		g.f("%sadd.s64 %s, %s, %s;", g.guard(), p, p, g.pick("4", "8", "16", "-4", "64"))
	}
}

// access emits a load, a store or an addition at a pointer plus an index, which is usually
// limited to the size of the buffer.
func (g *affine) access() {
	at := g.guard()
	switch g.rng.IntN(7) {
	case 5: // an index of 64 bits from memory, in bytes
		g.f("ld.global.b64 %%t, [%s+%d]; and.b64 %%t, %%t, 4092;", g.pick("%x0", "%x1"), 8*g.rng.IntN(4))
	case 6: // two of them, one negative
		g.f("ld.global.s64 %%t, [%s]; and.b64 %%t, %%t, 1020; ld.global.u64 %%v, [%s+8]; and.b64 %%v, %%v, 508; sub.s64 %%t, %%t, %%v;",
			g.pick("%x0", "%x1"), g.pick("%x0", "%x1"))
	case 0:
		g.f("and.b64 %%t, %s, %s;", g.wide(), g.pick("4092", "252", "-4"))
	case 1:
		g.f("mul.wide.%s %%t, %s, 4;", g.pick("s32", "u32"), g.reg())
	default:
		cut := g.pick("rem.s32 %%s, %s, 500;", "and.b32 %%s, %s, 1023;", "min.u32 %%s, %s, 700;", "shr.s32 %%s, %s, 22;")
		g.f(cut, g.reg())
		g.f("mul.wide.%s %%t, %%s, %s;", g.pick("s32", "u32"), g.pick("4", "8", "4", "-4"))
	}
	g.f("add.s64 %%u, %%t, %s;", g.pick("%x0", "%x1", "%x2", "%x3"))
	off := g.pick("", "+4", "+-4", "+64")
	switch g.rng.IntN(6) {
	case 0, 1:
		g.f("%sst.global.u32 [%%u%s], %s;", at, off, g.reg())
	case 2, 3:
		g.f("%sld.global.u32 %s, [%%u%s];", at, g.dst(), off)
	case 4:
		g.f("%sld.global.%s %s, [%%u%s];", at, g.pick("u8", "s8", "u16"), g.dst(), off)
	case 5:
		g.f("%sred.global.add.u32 [%%u%s], 1;", at, off)
	}
}
