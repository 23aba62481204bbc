// Package section compares pages, and sections of pages, with the text that a test computes. A test that runs with
// -rewrite writes the text instead.
package section

import (
	"flag"
	"os"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // its flag, -rewrite
	"github.com/stretchr/testify/require"
)

// Check compares the section NAME of a page with text. The section lies between two lines:
//
//	<!-- begin NAME, written by a test -->
//	<!-- end NAME -->
func Check(t *testing.T, path, name, text string) {
	t.Helper()
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	begin, end := "<!-- begin "+name+", written by a test -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok, "no %q", begin)
	had, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "no %q", end)
	check(t, path, text, had, before+begin+text+end+after)
}

// CheckPage compares a page with text.
func CheckPage(t *testing.T, path, text string) {
	t.Helper()
	had, err := os.ReadFile(path)
	if !os.IsNotExist(err) { // -rewrite creates it
		require.NoError(t, err)
	}
	check(t, path, text, string(had), text)
}

// check compares a text with what the page had instead, or writes the page.
func check(t *testing.T, path, text, had, page string) {
	t.Helper()
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	require.Equal(t, text, had, "%s is stale: run the test with -rewrite and read the diff", path)
}
