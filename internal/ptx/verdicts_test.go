package ptx

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVerdictsOfPtxas loads statements one by one behind the head of their file in
// testdata/verdicts, NAME.head or head. ptxas 11.8 accepts those marked + and refuses those
// marked -. Those marked ? are refused by ptxas and load here; those marked ! are accepted by
// ptxas and refused here: loads into special registers, .f16x2 registers as predicates, initial
// values of more than 64 bits, and atom.and and atom.exch with a fourth operand, none of which
// the PTX ISA describes.
func TestVerdictsOfPtxas(t *testing.T) {
	for _, file := range []string{"forms", "operands", "vectors", "special", "registers", "calls", "matrices", "module", "sweep"} {
		head, tail := verdictFrame(t, file)
		list, err := os.ReadFile("testdata/verdicts/" + file)
		require.NoError(t, err)
		for line := range strings.Lines(string(list)) {
			mark, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			_, err := Parse("in.ptx", head+text+tail)
			assert.Equal(t, mark == "+" || mark == "?", err == nil, "%s: %s: %v", file, text, err)
		}
	}
}

// verdictFrame is the text before and after a statement of a file of verdicts. Those of file
// module stand outside kernels.
func verdictFrame(t *testing.T, file string) (head, tail string) {
	text, err := os.ReadFile("testdata/verdicts/" + file + ".head")
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile("testdata/verdicts/head")
	}
	require.NoError(t, err)
	if file == "module" {
		return string(text), "\n"
	}
	return string(text), "\nret;\n}\n"
}
