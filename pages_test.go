package reprise_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPagesShowProgramsThatRun finds each Go block of these pages in an example that the tests run.
func TestPagesShowProgramsThatRun(t *testing.T) {
	var programs strings.Builder
	for _, pattern := range []string{"*_test.go", "examples/*/main.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			programs.WriteString(unindented(string(text)))
		}
	}
	for _, page := range []string{"README.md", "docs/TUTORIAL.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, blocks, page)
		for _, b := range blocks {
			assert.Contains(t, programs.String(), unindented(b[1]), page)
		}
	}
}

// unindented is text without the white space at the start of lines, and without empty lines.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(text, "")
}
