package devicetest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKernelsAreCompiledFromTheirSource(t *testing.T) {
	source, err := os.ReadFile("kernels.cu")
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(kernels, fmt.Sprintf("sha256 %x\n", sha256.Sum256(source))),
		"kernels.ptx is stale; run go generate")
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Names() {
		assert.False(t, seen[name], name)
		seen[name] = true
	}
}
