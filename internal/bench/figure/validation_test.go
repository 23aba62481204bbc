package figure

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/validation"
)

func prediction(class string, measured, predicted float64) validation.Prediction {
	return validation.Prediction{Class: class, MeasuredUS: measured, PredictedUS: predicted}
}

func TestPredictionsAreDrawnByClass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svg")
	report := &validation.Report{
		Summary: &validation.Summary{All: &validation.Statistics{Rows: 3, Geomean: 1.07, Median: 0.04, Mean: 0.08}},
		Rows: []validation.Prediction{
			prediction("shared", 20, 25), prediction("cache", 3000, 2000), prediction("cache", 0.5, 0.7), {Class: "lost", MeasuredUS: 1e-9, Error: "no"},
		},
	}
	require.NoError(t, WriteValidation(path, report))
	text := textOf(t, path)
	for _, want := range []string{"cache (2)", "shared (1)", "measured us", "predicted us", "1e-1", "1e4", "3 rows without launches: geometric mean 1.07, median error 4 %, mean 8 %"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "lost")
	assert.NotContains(t, text, "1e5", "the axes end at a power of ten")
}

// Few and many rows, equal times, and times at powers of ten can be drawn.
func TestOddPredictionsAreDrawn(t *testing.T) {
	var many []validation.Prediction
	for i := range 20 {
		many = append(many, prediction(fmt.Sprint("class ", i), float64(i+1), float64(i+1)))
	}
	for i, rows := range [][]validation.Prediction{nil, {prediction("a", 10, 10)}, {prediction("a", 1e-3, 1e6)}, many, {{Class: "a", MeasuredUS: 3, Error: "no"}}} {
		path := filepath.Join(t.TempDir(), "x.png")
		assert.NoError(t, WriteValidation(path, &validation.Report{Summary: &validation.Summary{}, Rows: rows}), "%d", i)
		assert.FileExists(t, path)
	}
}
