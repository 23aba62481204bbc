package validation_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/validation"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/section"
	"github.com/reprise-gpu/reprise/internal/uncertainty"
)

// TestPublishedTimes bounds the errors of the simulator on the published rows, and writes them into
// docs/TIME-MODEL.md and package uncertainty: `go test ./internal/bench/validation -run TestPublishedTimes -rewrite`.
// With -short it runs every eighth row, with wider bounds.
func TestPublishedTimes(t *testing.T) {
	set := validation.Data()
	if testing.Short() {
		set.Rows = everyEighth(set.Rows)
	}
	results, err := validation.Predict(context.Background(), []*validation.Set{set}, "", nil)
	require.NoError(t, err)
	for _, r := range results {
		require.NoError(t, r.Err, r.Row.ID)
	}
	s := validation.Summarize(results)
	within := func(lo, v, hi float64, what string, args ...any) {
		t.Helper()
		if v < lo || v > hi {
			t.Errorf("%s is %.3f, and must be from %.2f to %.2f", fmt.Sprintf(what, args...), v, lo, hi)
		}
	}
	if testing.Short() {
		within(0.85, s.All.Geomean, 1.15, "the geometric mean of a sample")
		within(0, s.All.Median, 0.2, "the median error of a sample")
		return
	}
	within(0.95, s.All.Geomean, 1.05, "the geometric mean")
	within(0, s.All.Median, 0.12, "the median error")
	within(0, s.All.Mean, 0.25, "the mean error")
	within(0, s.All.P90, 0.5, "the 90th percentile of the errors")
	for _, class := range s.By("class") {
		if class.Name != validation.LaunchClass {
			within(0.85, class.Geomean, 1.15, "the geometric mean of class %s", class.Name)
		}
	}
	checkLaunches(t, results)
	section.Check(t, "../../../docs/TIME-MODEL.md", "validation", errorTables(s)+farthest(results))
	section.CheckPage(t, "../../uncertainty/errors.csv", uncertainties(t, results))
}

// TestRefit writes the cross-validation into docs/TIME-MODEL.md. It takes minutes, so it runs with -rewrite only.
func TestRefit(t *testing.T) {
	if f := flag.Lookup("rewrite"); f.Value.String() != "true" {
		t.Skip("takes minutes: run it with -rewrite after a change of the model or of a profile")
	}
	sets := []*validation.Set{validation.Data()}
	results, err := validation.Predict(context.Background(), sets, "", nil)
	require.NoError(t, err)
	held, err := validation.Refit(context.Background(), sets, "", results, nil)
	require.NoError(t, err)
	require.Len(t, held, 2)
	section.Check(t, "../../../docs/TIME-MODEL.md", "refit", refitTables(held))
}

func refitTables(held []validation.HeldOut) string {
	var b strings.Builder
	b.WriteString("|fitted without the|geometric mean|median %|mean %|90th percentile %|\n|---|---:|---:|---:|---:|\n")
	for _, h := range held {
		p := &h.Predicted
		fmt.Fprintf(&b, "|%s of a row|%.2f|%.0f|%.0f|%.0f|\n", h.By, p.Geomean, 100*p.Median, 100*p.Mean, 100*p.P90)
	}
	b.WriteString("\n|constant, as a factor of its value|without a GPU|without a kernel|\n|---|---:|---:|\n")
	for i, c := range held[0].Constants {
		k := held[1].Constants[i]
		fmt.Fprintf(&b, "|`%s`|%.2f–%.2f|%.2f–%.2f|\n", c.Name, c.Least, c.Greatest, k.Least, k.Greatest)
	}
	return b.String()
}

func everyEighth(rows []validation.Row) (sample []validation.Row) {
	for i := 3; i < len(rows); i += 8 {
		sample = append(sample, rows[i])
	}
	return sample
}

// checkLaunches bounds the errors of launches: of kernels of less than 1 us on an H200, in a stream and in a graph,
// and of the gain of the graph.
func checkLaunches(t *testing.T, results []validation.Result) {
	find := func(id string) *validation.Result {
		for i := range results {
			if results[i].Row.ID == id {
				return &results[i]
			}
		}
		t.Fatalf("there is no row %s", id)
		return nil
	}
	for _, size := range []string{"4096b256", "63237b256"} {
		stream, graph := find("micro/h200/small_scale/"+size), find("micro/h200/small_graph/"+size+"/graph")
		assert.InDelta(t, 1, stream.Ratio(), 0.1, "a launch in a stream")
		assert.InDelta(t, 1, graph.Ratio(), 0.1, "a node of a graph")
		assert.InDelta(t, 1, stream.Ratio()/graph.Ratio(), 0.1, "the gain of a graph over a stream")
	}
}

// errorTables returns the errors by class, and the geometric means by device and class.
func errorTables(s *validation.Summary) string {
	var b strings.Builder
	line := func(name string, v *validation.Statistics) {
		fmt.Fprintf(&b, "|%s|%d|%.2f|%.0f|%.0f|%.0f|\n", name, v.Rows, v.Geomean, 100*v.Median, 100*v.Mean, 100*v.P90)
	}
	b.WriteString("|class|rows|geometric mean|median %|mean %|90th percentile %|\n|---|---:|---:|---:|---:|---:|\n")
	for _, c := range s.By("class") {
		line(c.Name, &c.Statistics)
	}
	line("all but launch", s.All)
	b.WriteString("\n|device|rows|geometric mean|median %|mean %|90th percentile %|\n|---|---:|---:|---:|---:|---:|\n")
	for _, d := range s.By("gpu") {
		line(d.Name, &d.Statistics)
	}
	return b.String()
}

// farthest returns the kernels and devices on which the geometric mean is off by more than a quarter, of those with two
// rows or more.
func farthest(results []validation.Result) string {
	groups := map[string][]*validation.Result{}
	for i := range results {
		if r := &results[i]; r.Row.Class != validation.LaunchClass {
			key := "|`" + r.Row.Kernel + "`|" + r.Row.GPU
			groups[key] = append(groups[key], r)
		}
	}
	var b strings.Builder
	b.WriteString("\n|farthest|device|rows|geometric mean|\n|---|---|---:|---:|\n")
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		v := validation.Describe(groups[key])
		if v.Rows > 1 && math.Abs(math.Log(v.Geomean)) > math.Log(1.25) {
			fmt.Fprintf(&b, "%s|%d|%.2f|\n", key, v.Rows, v.Geomean)
		}
	}
	return b.String()
}

// uncertainties returns the errors of each class on each kind of device, and on any, of those with five rows or more:
// two thirds of the rows are off by a smaller factor than 1 + error, either way.
func uncertainties(t *testing.T, results []validation.Result) string {
	factors := map[string][]float64{}
	var classes []string
	for i := range results {
		r := &results[i]
		p, err := profiles.Lookup(r.Row.Profile)
		require.NoError(t, err)
		if !slices.Contains(classes, r.Row.Class) {
			classes = append(classes, r.Row.Class)
		}
		for _, kind := range []string{uncertainty.Kind(p), "any"} {
			factors[r.Row.Class+","+kind] = append(factors[r.Row.Class+","+kind], max(r.Ratio(), 1/r.Ratio()))
		}
	}
	slices.Sort(classes)
	var b strings.Builder
	b.WriteString("class,kind,rows,error\n")
	for _, class := range classes {
		for _, kind := range []string{"centre", "other", "any"} {
			if list := factors[class+","+kind]; len(list) >= 5 {
				slices.Sort(list)
				fmt.Fprintf(&b, "%s,%s,%d,%.2f\n", class, kind, len(list), list[2*len(list)/3]-1)
			}
		}
	}
	return b.String()
}

func TestTheEmbeddedRowsNameTheirSources(t *testing.T) {
	rows := validation.Data().Rows
	require.Greater(t, len(rows), 200)
	ids := map[string]bool{}
	for _, r := range rows {
		assert.False(t, ids[r.ID], "%s occurs twice", r.ID)
		ids[r.ID] = true
		for what, value := range map[string]string{"set": r.Set, "repo": r.Repo, "commit": r.Commit, "file": r.File, "source": r.Source} {
			assert.NotEmpty(t, value, "%s of %s", what, r.ID)
		}
		if r.MeasuredUS < 10 {
			assert.Equal(t, validation.LaunchClass, r.Class, r.ID)
		}
	}
}
