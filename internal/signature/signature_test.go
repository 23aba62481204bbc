package signature_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/ir"
)

const program = `
graph two {
  module m "m.ptx"
  param $alpha f32 = 2
  buffer @x f32[1024] device(0) inout
  buffer @r f64[1] device(0) inout
  %0 = memset @x u32=0
  %1 = launch m.first grid(4) block(64) args(@x, i32=7, $alpha) uses(readwrite @x)
  %2 = loop until @r below 1e-08 max(100) {
    %0 = launch m.second grid(4) block(64) args(@x, i32=8) uses(readwrite @x, write @r)
  }
}
`

func load(t *testing.T, text string) *ir.Graph {
	file, err := ir.Load("two.rir", text)
	require.NoError(t, err)
	for i := range file.Graph.Modules {
		file.Graph.Modules[i].Source = "code"
	}
	return file.Graph
}

func TestSignatureIgnoresNames(t *testing.T) {
	want := signature.Of(load(t, program))
	for _, c := range []struct{ from, to string }{
		{"graph two", "graph three"}, {"@x", "@y"}, {"$alpha", "$beta"}, {"f32 = 2", "f32 = 3"}, {"module m", "module n"}, {`"m.ptx"`, `"n.ptx"`},
		{"uses(readwrite @x)\n", "uses(readwrite @x) cost(5ns)\n"}, {"write @r)", "write @r) cost(5ns) label(\"body\")"}, {"uses(readwrite @x)\n", "uses(readwrite @x) label(\"l\") at(\"f.go\":3)\n"},
	} {
		text := strings.ReplaceAll(program, c.from, c.to)
		if c.from == "module m" {
			text = strings.ReplaceAll(text, "launch m.", "launch n.")
		}
		assert.Equal(t, want, signature.Of(load(t, text)), "%q", c.to)
	}
}

func TestSignatureDependsOnWhatRuns(t *testing.T) {
	seen := map[signature.Hash]string{signature.Of(load(t, program)): "itself"}
	differs := func(g *ir.Graph, what string) {
		s := signature.Of(g)
		assert.Empty(t, seen[s], what)
		seen[s] = what
	}
	for _, c := range []struct{ from, to string }{
		{"grid(4)", "grid(8)"}, {"i32=7", "i32=9"}, {"i32=8", "i32=9"}, {"first", "third"}, {"second", "third"}, {"f32[1024]", "f32[2048]"}, {"max(100)", "max(50)"}, {"u32=0", "u32=1"},
	} {
		differs(load(t, strings.ReplaceAll(program, c.from, c.to)), c.to)
	}
	other := load(t, program)
	other.Modules[0].Source = "other code"
	differs(other, "code")
}

func TestTheGraphIsUnchanged(t *testing.T) {
	g := load(t, program)
	before := ir.Print(g)
	signature.Of(g)
	assert.Equal(t, before, ir.Print(g))
}

func TestHashesAsText(t *testing.T) {
	h := signature.Code("code")
	text, err := h.MarshalText()
	require.NoError(t, err)
	var read signature.Hash
	require.NoError(t, read.UnmarshalText(text))
	assert.Equal(t, h, read)
	for _, wrong := range []string{"", "00", strings.ToUpper(h.String()), h.String() + "00", strings.Repeat("g", 64)} {
		read = h
		assert.ErrorContains(t, read.UnmarshalText([]byte(wrong)), "not a hash")
		assert.Equal(t, h, read)
	}
}
