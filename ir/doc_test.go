package ir_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// The examples of docs/IR.md are canonical and valid, all but the last, whose
// error is the text below it.
func TestExamplesOfTheDocumentRoundTrip(t *testing.T) {
	doc, err := os.ReadFile("../docs/IR.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```(rir)?\n(.*?)^```$").FindAllSubmatch(doc, -1)
	var examples, others []string
	for _, b := range blocks {
		if len(b[1]) > 0 {
			examples = append(examples, string(b[2]))
		} else {
			others = append(others, string(b[2]))
		}
	}
	require.Len(t, examples, 4)
	for i, src := range examples {
		f, err := ir.Parse("g.rir", src)
		require.NoError(t, err)
		assert.Equal(t, src, string(f.Text()))
		if _, err = ir.Load("g.rir", src); i < len(examples)-1 {
			assert.NoError(t, err)
			continue
		}
		require.Error(t, err)
		assert.Equal(t, others[len(others)-1], err.Error()+"\n")
	}
}
