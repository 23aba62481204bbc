package importer

import (
	"testing"

	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
)

// TestMissingArguments calls all exported functions with missing arguments.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{"Read": Read},
		Pool:  func(*testing.T) []any { return []any{"a -> b", Options{Format: "edges"}} },
	})
}
