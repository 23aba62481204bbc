package ptx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const linkHead = ".version 7.0\n.target sm_52\n.address_size 64\n"

func linkTexts(t *testing.T, texts ...string) (*Module, error) {
	var modules []*Module
	for i, text := range texts {
		m, err := Parse(string(rune('a'+i)), linkHead+text)
		require.NoError(t, err)
		modules = append(modules, m)
	}
	return Link("linked", func(name string) bool { return name == "vprintf" }, modules...)
}

// TestLinkOfOneChangesNothing: a link of one module is the module.
func TestLinkOfOneChangesNothing(t *testing.T) {
	const text = `.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 $str[3] = {72, 105, 0};
.visible .entry k(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; mov.u64 %d, $str; ret; }`
	alone, err := Parse("a", linkHead+text)
	require.NoError(t, err)
	want := alone.String()
	linked, err := linkTexts(t, text)
	require.NoError(t, err)
	require.Equal(t, want, linked.String())
}

func TestLinkFindsWhatIsExtern(t *testing.T) {
	m, err := linkTexts(t,
		`.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .u32 total;
.visible .entry k() { .reg .b32 %r; { .param .b32 a; .param .b32 b; mov.u32 %r, 4; st.param.b32 [a], %r; call (b), twice, (a); ld.param.b32 %r, [b]; } st.global.u32 [total], %r; ret; }`,
		`.visible .global .u32 total = 1;
.visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }`)
	require.NoError(t, err)
	again, err := Parse("linked", m.String())
	require.NoError(t, err, "%s", m)
	require.False(t, again.Func("twice").Extern)
	require.Len(t, again.Vars, 1)
	require.False(t, again.Vars[0].Extern)
}

// TestLinkKeepsPrivateNamesApart: two modules have a helper and a string of the same
// name, and the addresses of both in tables.
func TestLinkKeepsPrivateNamesApart(t *testing.T) {
	half := func(entry, value string) string {
		return `.func (.param .b32 r) helper() { .reg .b32 %r; mov.u32 %r, ` + value + `; st.param.b32 [r], %r; ret; }
.global .u32 word = ` + value + `;
.global .u64 table[2] = {helper, generic(word)};
.visible .entry ` + entry + `() { .reg .b64 %d; .reg .b32 %r; { .param .b32 b; call (b), helper, (); ld.param.b32 %r, [b]; }
mov.u64 %d, helper; mov.u64 %d, word; ld.global.u32 %r, [word]; ld.global.u64 %d, [table+8]; ret; }`
	}
	m, err := linkTexts(t, half("one", "111"), half("two", "222"))
	require.NoError(t, err)
	text := m.String()
	again, err := Parse("linked", text)
	require.NoError(t, err, "%s", text)
	require.Len(t, again.Vars, 4)
	require.Equal(t, []byte{111, 0, 0, 0}, again.Vars[0].Init)
	require.Equal(t, []byte{222, 0, 0, 0}, again.Vars[2].Init)
	for i, entry := range []string{"one", "two"} {
		suffix := []string{"__0", "__1"}[i]
		for _, in := range again.Func(entry).Body {
			for _, op := range in.Args {
				require.NotContains(t, []string{"helper", "word", "table"}, op.Name)
				if op.Var != nil && op.Var.Space == Global {
					require.True(t, strings.HasSuffix(op.Var.Name, suffix), op.Var.Name)
				}
				if op.Kind == OpFunc {
					require.Equal(t, "helper"+suffix, op.Name)
				}
			}
		}
	}
	require.Equal(t, []Reloc{{Symbol: "helper__1"}, {Offset: 8, Symbol: "word__1", Generic: true}}, again.Vars[3].Relocs)
}

func TestLinkKeepsTheStrongestDefinition(t *testing.T) {
	weak := `.weak .func f() { exit; }`
	strong := `.visible .func f() { trap; }`
	for _, texts := range [][]string{{weak, strong}, {strong, weak}, {weak, weak, strong}} {
		m, err := linkTexts(t, texts...)
		require.NoError(t, err)
		require.Len(t, m.Funcs, 1)
		require.Equal(t, "trap", m.Func("f").Body[0].Name)
	}
}

func TestLinkSaysWhatIsWrong(t *testing.T) {
	for want, texts := range map[string][]string{
		"function f is defined twice":               {`.visible .func f() { ret; }`, `.visible .func f() { ret; }`},
		"function k is defined twice":               {`.visible .entry k() { ret; }`, `.visible .entry k() { ret; }`},
		"variable v is defined twice":               {`.visible .global .u32 v;`, `.visible .global .u32 v;`},
		"b:4:15: undefined reference to function f": {``, `.extern .func f();`},
		"undefined reference to function g":         {`.extern .func g();`, ``},
		"undefined reference to variable v":         {`.extern .global .u32 v;`, `.global .u32 v;`},
	} {
		_, err := linkTexts(t, texts...)
		require.ErrorContains(t, err, want)
	}
	_, err := linkTexts(t, `.extern .shared .align 4 .b8 s[];`, `.extern .shared .align 4 .b8 s[];`, `.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);`)
	require.NoError(t, err)
}

// TestLinkKeepsTheNewestTarget links modules for different targets, in both orders.
func TestLinkKeepsTheNewestTarget(t *testing.T) {
	order := []string{"sm_52", "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120"}
	for i, low := range order {
		for _, high := range order[i:] {
			for _, pair := range [][]string{{low, high}, {high, low}} {
				var modules []*Module
				for _, target := range pair {
					m, err := Parse(target, ".version 8.8\n.target "+target+"\n.address_size 64\n")
					require.NoError(t, err)
					modules = append(modules, m)
				}
				linked, err := Link("linked", func(string) bool { return false }, modules...)
				require.NoError(t, err)
				require.Equal(t, high, linked.Target, "%v", pair)
			}
		}
	}
}
