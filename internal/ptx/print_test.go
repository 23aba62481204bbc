package ptx

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// clearPos removes the fields that a round trip may change.
func clearPos(m *Module) {
	m.File = ""
	vars := func(list []*Var) {
		for _, v := range list {
			v.Pos = Pos{}
		}
	}
	vars(m.Vars)
	for _, f := range m.Funcs {
		f.Pos = Pos{}
		vars(f.Params)
		vars(f.Return)
		vars(f.Vars)
		for _, proto := range f.Protos {
			proto.Pos = Pos{}
			vars(proto.Params)
			vars(proto.Return)
		}
		for i := range f.Body {
			f.Body[i].Pos, f.Body[i].Loc = Pos{}, Loc{}
			clearOperands(f.Body[i].Args)
		}
	}
}

func clearOperands(list []Operand) {
	for i := range list {
		list[i].Pos = Pos{}
		clearOperands(list[i].Elems)
	}
}

func printed(t testing.TB, m *Module) string {
	var b bytes.Buffer
	require.NoError(t, Print(&b, m))
	return b.String()
}

// requireRoundTrip checks Parse(Print(m)) == m modulo positions.
func requireRoundTrip(t testing.TB, m *Module) {
	text := printed(t, m)
	again, err := Parse("printed", text)
	require.NoError(t, err, "%s", text)
	clearPos(m)
	clearPos(again)
	require.Equal(t, m.Vars, again.Vars)
	require.Len(t, again.Funcs, len(m.Funcs))
	for i, f := range m.Funcs {
		g := again.Funcs[i]
		require.Equal(t, f.Regs, g.Regs, f.Name)
		require.Equal(t, f.Labels, g.Labels, f.Name)
		require.Len(t, g.Body, len(f.Body), f.Name)
		for j := range f.Body {
			require.Equal(t, f.Body[j], g.Body[j], "%s, instruction %d", f.Name, j)
		}
		f.Body, g.Body = nil, nil
		require.Equal(t, f, g)
	}
}

func TestPrintRoundTrips(t *testing.T) {
	for _, file := range corpus(t) {
		t.Run(file, func(t *testing.T) { requireRoundTrip(t, parseFile(t, file)) })
	}
}

// TestPrint shows how scopes, shadowed names, branch tables, masked relocations and other
// constructs are printed that nvcc 11.8 does not emit for the corpus.
func TestPrint(t *testing.T) {
	datadriven.RunTest(t, "testdata/print", func(t *testing.T, d *datadriven.TestData) string {
		m, err := Parse("in.ptx", unusual)
		require.NoError(t, err)
		text := printed(t, m)
		requireRoundTrip(t, m)
		return text
	})
}

// TestSyntax shows how forms that compilers seldom write are understood: a body
// ("body") or a file ("file") is printed, and must survive printing.
func TestSyntax(t *testing.T) {
	datadriven.RunTest(t, "testdata/syntax", func(t *testing.T, d *datadriven.TestData) string {
		m, err := Parse("in.ptx", syntaxInput(d))
		if err != nil {
			return err.Error() + "\n"
		}
		text := printed(t, m)
		requireRoundTrip(t, m)
		if _, body, ok := strings.Cut(text, bodyMark); ok && d.Cmd == "body" {
			return strings.TrimSuffix(body, "}\n")
		}
		return text
	})
}

// bodyMark ends what syntaxInput puts before a body.
const bodyMark = "\tpmevent 15;\n"

func syntaxInput(d *datadriven.TestData) string {
	if d.Cmd == "file" {
		return strings.ReplaceAll(testHead, "\n", " ") + d.Input + "\n"
	}
	return ".version 8.8 .target sm_120 .address_size 64 .global .u32 g; .global .texref tex; .global .samplerref smp; .global .surfref surf; .shared .b8 sh[64]; " +
		".func (.reg .b32 r) one(.reg .b32 a) { ret; } .func two(.param .b64 a) { ret; } " +
		".visible .entry k(.param .u64 a, .param .u32 n) { " +
		".reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .f64 %fd<9>; .reg .b64 %rd<9>; .reg .b128 %q<3>; pmevent 15;\n" +
		d.Input + "\n}\n"
}

const unusual = `.version 7.8
.target sm_75, debug
.address_size 64
.extern .func (.reg .b32 out) ext (.reg .b32 in);
.global .u8 masked[9] = {1, 0xFF(table+4), 0xFF00(table+4), 0xFF0000(table+4), 0xFF000000(table+4),
	0xFF00000000(table+4), 0xFF0000000000(table+4), 0xFF000000000000(table+4), 0xFF00000000000000(table+4)};
.weak .const .align 8 .f32 table[][2] = {{1.5, 2.0}, {0f40400000}};
.extern .shared .align 16 .b8 dyn[];
.global .texref tex;
.func (.reg .b32 r) twice (.reg .b32 a) { add.s32 r, a, a; ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])
.reqntid 32, 2
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	.reg .f32 %f<5>;
	.local .align 4 .b8 depot[16];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, dyn;
	{ .reg .b32 %r<2>; .reg .pred q; mov.u32 %r1, -5; setp.ne.s32 q|_, %r1, 0; @!q bra L; L: }
	{ .reg .pred q; setp.ne.s32 q, %r1, 0; @q bra L; bra L2; L: }
	L2: st.shared.v2.u32 [%r1+-8], {%r1, %r2};
	ts: .branchtargets L2, L3;
	brx.idx %r1, ts;
L3:	tex.2d.v4.f32.f32 {%f1, %f2, %f3, _}, [tex, {%f1, %f2}];
	call (%r2), twice, (%r1);
	mov.b64 %rd2, 1.5;
	shfl.sync.bfly.b32 %r3|%p1, %r2, 1, 31, WARP_SZ;
	mov.u32 %r3, %tid.x;
	selp.b32 %r3, %r3, 7, !%p1;
	vadd.s32.u32.s32.sat %r3.h1, %r1.b0, %r2.h0, %r3;
	vmad.s32.s32.u32.sat %r3, %r1, -%r2.b1, %r3;
	vset4.u32.u32.lt %r3.b20, %r1.b7654, %r2, %r3;
	st.global.f32 [%rd1], 0f3F800000;
	ret;
}
`
