package dag_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/dag"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
)

func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Reduce": dag.Reduce, "MinimumPathCover": dag.MinimumPathCover, "MinimumChainCover": dag.MinimumChainCover,
			"MaximumAntichain": dag.MaximumAntichain, "Incomparability": dag.Incomparability,
			"MaximumMatching": dag.MaximumMatching, "ExactColoring": dag.ExactColoring,
		},
		Pool:  func(*testing.T) []any { return []any{simple.NewDirectedGraph(), simple.NewUndirectedGraph()} },
		Typed: func(err error) bool { return errors.Is(err, absent.Err) },
	})
}
