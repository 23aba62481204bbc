package section_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/section"
)

func TestCheckReplacesOnlyTheSection(t *testing.T) {
	const head, tail = "# Page\n<!-- begin a, written by a test -->\n", "<!-- end a -->\nrest\n"
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte(head+"old\n"+tail), 0o644))
	section.Check(t, path, "a", "old\n")

	was := flag.Lookup("rewrite").Value.String()
	require.NoError(t, flag.Set("rewrite", "true"))
	defer func() { require.NoError(t, flag.Set("rewrite", was)) }()
	section.Check(t, path, "a", "new\n")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, head+"new\n"+tail, string(got))
}
