package validation

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
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

	only := Summarize([]Result{result("a", "small", LaunchClass, 7)})
	assert.Nil(t, only.All)
	assert.Equal(t, 1, only.Groups[0].List[0].Rows)
}
