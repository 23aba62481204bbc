package ptx

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVerdictsOfPtxas loads instructions one by one behind testdata/verdicts/head: those
// marked + are accepted by ptxas 11.8 for sm_80, and those marked - are refused.
func TestVerdictsOfPtxas(t *testing.T) {
	head, err := os.ReadFile("testdata/verdicts/head")
	require.NoError(t, err)
	for _, file := range []string{"forms", "operands"} {
		list, err := os.ReadFile("testdata/verdicts/" + file)
		require.NoError(t, err)
		for line := range strings.Lines(string(list)) {
			mark, inst, _ := strings.Cut(strings.TrimSpace(line), " ")
			_, err := Parse("in.ptx", string(head)+inst+"\nret;\n}\n")
			assert.Equal(t, mark == "+", err == nil, "%s: %v", inst, err)
		}
	}
}
