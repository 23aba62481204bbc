package validation

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// result is a result with a ratio.
func result(gpu, kernel, class string, ratio float64) Result {
	return Result{Row: &Row{ID: fmt.Sprintf("%s/%s/%g", gpu, kernel, ratio), GPU: gpu, Kernel: kernel, Class: class, MeasuredUS: 50}, PredictedUS: 50 * ratio}
}

func pointers(results []Result) (list []*Result) {
	for i := range results {
		list = append(list, &results[i])
	}
	return list
}

func TestStatistics(t *testing.T) {
	// Errors 0.6, 0.5, 0.25, 0.1, 0; factors 2.5, 1.5, 1.25, 1/0.9, 1.
	s := Describe(pointers([]Result{result("a", "k", "c", 1.5), result("a", "k", "c", 1), result("a", "k", "c", 0.4), result("a", "k", "c", 1.25), result("a", "k", "c", 0.9)}))
	assert.Equal(t, 5, s.Rows)
	assert.InDelta(t, math.Pow(1.5*0.4*1.25*0.9, 0.2), s.Geomean, 1e-12)
	assert.InDelta(t, 0.25, s.Median, 1e-12)
	assert.InDelta(t, 0.29, s.Mean, 1e-12)
	assert.InDelta(t, 0.6, s.P90, 1e-12)
	assert.InDelta(t, 2.5, s.P90Factor, 1e-12)
	assert.InDelta(t, 0.4, s.Worst, 1e-12)
	assert.Equal(t, "a/k/0.4", s.WorstID)

	even := Describe(pointers([]Result{result("a", "k", "c", 1.5), result("a", "k", "c", 1.25)}))
	assert.InDelta(t, 0.5, even.Median, 1e-12, "the upper of the two in the middle")
}

// With n rows, the 90th percentile is element 0.9 n of the sorted list, counted from 0.
func TestPercentiles(t *testing.T) {
	var ten []Result
	for i := range 10 {
		ten = append(ten, result("a", "k", "c", 1+float64((7*i)%10)/100))
	}
	s := Describe(pointers(ten))
	assert.InDelta(t, 0.05, s.Median, 1e-12)
	assert.InDelta(t, 0.09, s.P90, 1e-12)
	assert.InDelta(t, 1.09, s.P90Factor, 1e-12)
	ten[0].PredictedUS = 50 * 0.5
	assert.InDelta(t, 0.5, Describe(pointers(ten)).P90, 1e-12)
	assert.InDelta(t, 0.09, percentile([]float64{0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1}, 0.9), 1e-12)
}

func TestLaunchesAndFailuresAreLeftOut(t *testing.T) {
	failed := result("b", "broken", "cache", 9)
	failed.Err = errNoTime
	s := Summarize([]Result{result("a", "k", "cache", 1), result("a", "small", LaunchClass, 7), failed})
	assert.Equal(t, 1, s.All.Rows)
	names := map[string][]string{}
	for _, g := range s.Groups {
		for _, one := range g.List {
			names[g.By] = append(names[g.By], one.Name)
		}
	}
	assert.Equal(t, map[string][]string{"class": {"cache", "launch"}, "gpu": {"a"}, "set": {""}, "kernel": {"k"}}, names)
	assert.Empty(t, s.Held, "nothing is left to fit a correction to")

	only := Summarize([]Result{result("a", "small", LaunchClass, 7)})
	assert.Nil(t, only.All)
	assert.Equal(t, 1, only.Groups[0].List[0].Rows)
}

// A bias that all GPUs share is found without the GPU held out; one that differs from GPU to GPU is made worse.
func TestHeldOut(t *testing.T) {
	of := func(r *Row) string { return r.GPU }
	shared := pointers([]Result{result("a", "k", "x", 2), result("a", "k", "x", 2), result("b", "k", "x", 2), result("c", "k", "x", 2)})
	for _, h := range holdOut(shared, "gpu", of) {
		assert.InDelta(t, 0.5, h.Least, 1e-12)
		assert.InDelta(t, 0.5, h.Greatest, 1e-12)
		assert.InDelta(t, 0, h.Corrected.Mean, 1e-12)
	}

	own := holdOut(pointers([]Result{result("a", "k", "x", 2), result("b", "k", "x", 0.5)}), "gpu", of)[0]
	assert.InDelta(t, 0.5, own.Least, 1e-12, "for b, fitted to a")
	assert.InDelta(t, 2, own.Greatest, 1e-12, "for a, fitted to b")
	assert.InDelta(t, 1, own.Corrected.Geomean, 1e-12)
	assert.InDelta(t, (3+0.75)/2, own.Corrected.Mean, 1e-12)

	// One factor finds nothing where two classes are off in opposite ways; a factor for each does.
	classes := holdOut(pointers([]Result{result("a", "k", "x", 2), result("a", "k", "y", 0.5), result("b", "k", "x", 2), result("b", "k", "y", 0.5)}), "gpu", of)
	require.Len(t, classes, 2)
	assert.False(t, classes[0].PerClass)
	assert.InDelta(t, 0.75, classes[0].Corrected.Mean, 1e-12)
	assert.True(t, classes[1].PerClass)
	assert.InDelta(t, 0, classes[1].Corrected.Mean, 1e-12)

	alone := holdOut(pointers([]Result{result("a", "k", "x", 2), result("b", "k", "y", 3)}), "gpu", of)[1]
	assert.InDelta(t, 1, alone.Least, 1e-12, "nothing to fit to")
	assert.InDelta(t, 1, alone.Greatest, 1e-12)
}
