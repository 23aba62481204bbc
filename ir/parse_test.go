package ir_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestParse runs testdata/parse: the input of a case is a file, its output the
// canonical text or the errors. The flags crlf, tabs and wide put in what the
// test file cannot hold well.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := d.Input + "\n"
			if d.HasArg("crlf") {
				src = strings.ReplaceAll(src, "\n", "\r\n")
			}
			if d.HasArg("tabs") {
				src = strings.ReplaceAll(src, "<tab>", "\t")
			}
			if d.HasArg("wide") {
				src = strings.ReplaceAll(src, "<wide>", strings.Repeat("é ", 200))
			}
			f, err := ir.Parse("x.rir", src)
			if err != nil {
				return strings.ReplaceAll(err.Error(), "\t", "<tab>") + "\n"
			}
			text := string(f.Text())
			again, err := ir.Parse("again.rir", text)
			require.NoError(t, err)
			assert.Equal(t, f, again)
			return strings.ReplaceAll(text, "\r", "<cr>")
		})
	})
}

func TestParseInvertsPrint(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := random(r, seed, r.IntN(40))
		f, err := ir.Parse("x.rir", string(ir.Format(g, nil)))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, g, f.Graph, "seed %d", seed)
		require.Equal(t, ir.Print(g), ir.Print(f.Graph), "seed %d", seed)
	}
}

// Lists of a parsed graph share allocations, but growing one does not reach
// into the next.
func TestParsedListsDoNotShareCapacity(t *testing.T) {
	f, err := ir.Parse("x.rir", "graph g {\n%0 = empty\n%1 = empty after(%0)\n%2 = empty after(%1)\n}\n")
	require.NoError(t, err)
	_ = append(f.Graph.Ops[1].After, 7)
	assert.Equal(t, []ir.OpID{1}, f.Graph.Ops[2].After)
}

// The graph must not keep a large text alive.
func TestParsedStringsAreInterned(t *testing.T) {
	f, err := ir.Parse("x.rir", "graph g {\n%0 = host \"f\"\n%1 = host \"f\"\n}\n")
	require.NoError(t, err)
	assert.Same(t, unsafe.StringData(f.Graph.Ops[0].Label), unsafe.StringData(f.Graph.Ops[1].Label))
}

// A source line is shown byte for byte, except for control characters.
func TestErrorsShowNoControlCharacters(t *testing.T) {
	_, err := ir.Parse("esc.rir", "graph g {\n\t%0 = \x1b[31mempty \xff \u009b é\n}\n")
	require.Error(t, err)
	for _, r := range err.Error() {
		assert.True(t, r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != utf8.RuneError, "%q in %q", r, err)
	}
	assert.Contains(t, err.Error(), "\t%0 = ?[31mempty ? ?? é")
}
