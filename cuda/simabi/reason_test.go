//go:build cuda && cgo

package simabi

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoStatusIsReturnedUnexplained searches the sources for functions that return a code without result, which
// explains it. The only permitted places are cuInit in gpu.go and lacking.go, which explain their codes themselves.
func TestNoStatusIsReturnedUnexplained(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	code := regexp.MustCompile(`return C\.CUDA_ERROR_\w+`)
	var found []string
	for _, f := range files {
		if f == "reason_test.go" {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range code.FindAll(text, -1) {
			found = append(found, f+": "+string(m))
		}
	}
	require.Equal(t, []string{
		"gpu.go: return C.CUDA_ERROR_NO_DEVICE",
		"lacking.go: return C.CUDA_ERROR_NOT_SUPPORTED",
	}, found, "return result(status(...)) instead")
}

// TestEveryStatusHasAReason expects a reason for every code that the package names.
func TestEveryStatusHasAReason(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	have, err := os.ReadFile("reason.go")
	require.NoError(t, err)
	used := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`status\((C\.CUDA_ERROR_\w+)\)`).FindAllSubmatch(text, -1) {
			used++
			require.Regexp(t, regexp.QuoteMeta(string(m[1]))+`: +"`, string(have), f)
		}
	}
	require.Greater(t, used, 40)
}
