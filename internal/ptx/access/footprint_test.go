package access

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestFootprint runs testdata/footprint/*: "kernel" analyses a kernel, whose body
// follows the header below, and prints where its accesses go; "eval" computes the
// spans of a launch of it. The expected spans were worked out by hand.
func TestFootprint(t *testing.T) {
	datadriven.Walk(t, "testdata/footprint", func(t *testing.T, path string) {
		var fp *Footprint
		var f *ptx.Func
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "kernel":
				var m *ptx.Module
				m, f = footprintKernel(t, d.Input)
				fp = NewFootprint(m, f)
				return printRanges(fp)
			case "eval":
				return evalFootprint(t, d, f, fp)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// footprintKernel is a kernel with parameters a, b (pointers), n, m (32 bits) and
// l (64 bits), of which a device function may precede the body.
func footprintKernel(t testing.TB, body string) (*ptx.Module, *ptx.Func) {
	funcs, rest, ok := strings.Cut(body, "BODY\n")
	if !ok {
		funcs, rest = "", body
	}
	m, err := ptx.Parse("in.ptx", strings.ReplaceAll(testHead, "\n", " ")+strings.ReplaceAll(funcs, "\n", " ")+
		" .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m, .param .u64 l) { "+
		".shared .u64 sh[4]; .local .align 8 .b8 depot[32]; .reg .pred %p<8>; .reg .b16 %rs<4>; .reg .b32 %r<32>; .reg .f32 %f<5>; .reg .b64 %rd<32>; "+
		"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; ld.param.u64 %rd3, [l]; "+
		"mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;\n"+
		rest+"\n}\n")
	require.NoError(t, err)
	return m, m.Func("k")
}

func printRanges(fp *Footprint) string {
	var b strings.Builder
	for _, r := range fp.Ranges {
		fmt.Fprintf(&b, "%d: %s %s", r.Pos.Line, r.Access, r.Text)
		if len(r.Strides) > 0 {
			fmt.Fprintf(&b, "; strides %s", strings.Join(r.Strides, ", "))
		}
		if r.Why != nil {
			fmt.Fprintf(&b, " (%d: %s)", r.Why.Pos.Line, r.Why.Msg)
		}
		b.WriteString("\n")
	}
	if fp.Effects.Opaque != nil {
		fmt.Fprintf(&b, "opaque: %s\n", fp.Effects.Opaque)
	}
	return b.String()
}

const footprintA, footprintB = 0x2_0000_0000, 0x2_4000_0000

// evalFootprint prints the spans of a launch with the block and grid extents, and
// the numbers n, m and l, that are given; "vary=n" leaves one open. "first" and "count"
// select the blocks of a part of the launch.
func evalFootprint(t testing.TB, d *datadriven.TestData, f *ptx.Func, fp *Footprint) string {
	l := &Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: make([]byte, f.ParamBytes()), Varies: make([]bool, len(f.Params))}
	binary.LittleEndian.PutUint64(l.Params, footprintA)
	binary.LittleEndian.PutUint64(l.Params[8:], footprintB)
	first, count := [3]uint32{}, [3]uint32{}
	for _, arg := range d.CmdArgs {
		for i, v := range arg.Vals {
			x, err := strconv.ParseInt(v, 0, 64)
			switch arg.Key {
			case "grid":
				l.Grid[i] = uint32(x)
			case "block":
				l.Block[i] = uint32(x)
			case "first":
				first[i] = uint32(x)
			case "count":
				count[i] = uint32(x)
			case "n":
				binary.LittleEndian.PutUint32(l.Params[16:], uint32(x))
			case "m":
				binary.LittleEndian.PutUint32(l.Params[20:], uint32(x))
			case "l":
				binary.LittleEndian.PutUint64(l.Params[24:], uint64(x))
			case "vary":
				l.Varies[strings.Index("abnml", v)] = true
				err = nil
			default:
				t.Fatalf("unknown argument %s", arg.Key)
			}
			require.NoError(t, err)
		}
	}
	if count[0] > 0 {
		part := l.Within(first, [3]uint32{count[0], max(count[1], 1), max(count[2], 1)})
		l = &part
	}
	out, hulls := make([]BoxReach, len(fp.Effects.Params)), make([]Reach, len(fp.Effects.Params))
	fp.EvalBoxes(l, out)
	fp.Eval(l, hulls)
	var b strings.Builder
	for i, p := range fp.Effects.Params {
		require.Equal(t, hulls[i], Reach{out[i].Read.Span, out[i].Write.Span})
		for _, s := range []struct {
			verb string
			r    Region
		}{{"reads", out[i].Read}, {"writes", out[i].Write}} {
			if s.r.Span == Whole {
				fmt.Fprintf(&b, "%s %s all\n", s.verb, p.Name)
			} else if !s.r.Span.Empty() {
				fmt.Fprintf(&b, "%s %s %s\n", s.verb, p.Name, printRegion(s.r))
			}
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// printRegion prints the span, or the box in the notation of ir.
func printRegion(r Region) string {
	x := r.Box
	if x.Empty() {
		return fmt.Sprintf("%d..%d", r.Lo, r.Hi)
	}
	text := fmt.Sprintf("%d..%d, %d every %d", x.Lo, x.Hi(), x.Run, x.Stride[0])
	if x.Count[1] > 0 {
		text += fmt.Sprintf(" times %d every %d", x.Count[0], x.Stride[1])
	}
	return text
}

// Each value here is the sum of the two before, so that there are as many paths to the
// first as Fibonacci numbers say: analysis must visit values and not paths.
func TestFootprintOfSharedSumsIsQuick(t *testing.T) {
	body := "mov.u32 %r10, %r1; mov.u32 %r11, %r2;\n"
	for i := range 80 {
		body += fmt.Sprintf("add.s32 %%r%d, %%r%d, %%r%d;\n", 10+(i+2)%3, 10+i%3, 10+(i+1)%3)
	}
	body += "mov.u32 %r20, %r10; L: mul.wide.s32 %rd5, %r20, 4; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r20; " +
		"add.s32 %r20, %r20, 4; setp.lt.s32 %p1, %r20, %r11; @%p1 bra L; ret;"
	m, f := footprintKernel(t, body)
	start := time.Now()
	require.Len(t, NewFootprint(m, f).Ranges, 1)
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestEvalAllocatesNothing(t *testing.T) {
	m := parseFile(t, "testdata/basic.ptx")
	f := m.Func("saxpy_stride")
	fp := NewFootprint(m, f)
	l := &Launch{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: make([]byte, f.ParamBytes())}
	out, boxes := make([]Reach, len(fp.Effects.Params)), make([]BoxReach, len(fp.Effects.Params))
	part := l.Within([3]uint32{}, [3]uint32{2, 1, 1})
	require.NotNil(t, fp.strides.part)
	require.Zero(t, testing.AllocsPerRun(100, func() { fp.EvalBoxes(&part, boxes) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { fp.Eval(l, out) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { fp.EvalBoxes(l, boxes) }))
}

// A loop over the size of the grid leaves no gaps if all blocks run. The time of recording a launch does not grow then.
func TestGridLoopsHaveStridesInPartsOnly(t *testing.T) {
	m, f := footprintKernel(t, `mov.u32 %r7, %nctaid.x;
mul.lo.s32 %r8, %r7, %r4;
L: setp.ge.s32 %p1, %r6, %r1;
@%p1 bra END;
mul.wide.s32 %rd4, %r6, 4;
add.s64 %rd5, %rd1, %rd4;
st.global.u32 [%rd5], %r7;
add.s32 %r6, %r6, %r8;
bra L;
END: ret;`)
	fp := NewFootprint(m, f)
	require.Nil(t, fp.strides.whole)
	require.NotNil(t, fp.strides.part)
}

func BenchmarkEval(b *testing.B) {
	m := parseFile(b, "testdata/basic.ptx")
	for _, name := range []string{"vadd", "saxpy_stride"} {
		f := m.Func(name)
		fp := NewFootprint(m, f)
		l := &Launch{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: make([]byte, f.ParamBytes())}
		out := make([]Reach, len(fp.Effects.Params))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fp.Eval(l, out)
			}
		})
		boxes := make([]BoxReach, len(fp.Effects.Params))
		b.Run(name+"/boxes", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fp.EvalBoxes(l, boxes)
			}
		})
		part := l.Within([3]uint32{}, [3]uint32{2, 1, 1})
		b.Run(name+"/part", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fp.EvalBoxes(&part, boxes)
			}
		})
	}
}
