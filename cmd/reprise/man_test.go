package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each command that help lists has a manual page with its flags.
func TestManualPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	dir := filepath.Join(t.TempDir(), "man")
	_, stderr, status := reprise("man", dir)
	require.Zero(t, status, stderr)
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		require.NoError(t, err)
		pages++
		assert.Contains(t, string(page), `.TH "REPRISE" "1" "Jan 1970"`, name)
		if c.Flags().Lookup("json") != nil {
			assert.Contains(t, string(page), `\fB--json\fP`, name)
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(newRoot())
	found, err := filepath.Glob(dir + "/*.1")
	require.NoError(t, err)
	assert.Len(t, found, pages)
}
