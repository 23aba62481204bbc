package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// recorded writes a file in the format of compare --json.
func recorded(t *testing.T, dir, name string, all ...compare.Comparison) string {
	path := filepath.Join(dir, name)
	require.NoError(t, writeJSON(path, nil, comparisons{all, compare.Means(all), compare.ThroughputMeans(all)}))
	return path
}

// TestCompareFromShowsWhatWasMeasured expects the tables of the run that wrote the files, with workloads in the order
// of a run.
func TestCompareFromShowsWhatWasMeasured(t *testing.T) {
	dir := t.TempDir()
	vec, dl := compared(20, 10, true), compared(30, 10, true)
	dl.Workload = "dl"
	recorded(t, dir, "a.json", dl)
	recorded(t, dir, "b.json", vec)
	var want strings.Builder
	require.NoError(t, compare.WriteTables(&want, []compare.Comparison{vec, dl}))
	out, complaint, status := reprise("compare", "--from", dir)
	assert.Equal(t, want.String(), out)
	assert.Zero(t, status, complaint)

	out, complaint, status = reprise("compare", "dl", "--from", dir, "--max-ratio", "1")
	assert.Equal(t, 1, status)
	assert.Contains(t, complaint, "dl at 10, pinned: nimble/graph takes 3 times as long as c++ graph, and 1 is allowed")
	assert.Contains(t, out, "dl at 10 on sim:h200")
	assert.NotContains(t, out, "vec at 10 on")
}

// TestCompareFromShowsSavedPrograms expects the comparison of a saved program, by its name and behind those of workloads. The
// file of the program is not read.
func TestCompareFromShowsSavedPrograms(t *testing.T) {
	dir := t.TempDir()
	saved := compared(20, 10, true)
	saved.Workload, saved.Size, saved.Memory = "mine.rir", 0, bench.AsSaved.String()
	recorded(t, dir, "a.json", saved)
	recorded(t, dir, "b.json", compared(20, 10, true))
	out, complaint, status := reprise("compare", "--from", dir)
	assert.Zero(t, status, complaint)
	assert.Less(t, strings.Index(out, "vec at 10 on"), strings.Index(out, "mine.rir on"), out)

	out, complaint, status = reprise("compare", "mine.rir", "--from", dir)
	assert.Zero(t, status, complaint)
	assert.Contains(t, out, "mine.rir on sim:h200")
	assert.NotContains(t, out, "vec at 10 on")

	_, complaint, status = reprise("compare", "--from", dir, "--plot", dir)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, complaint, "mine.rir is a saved program that has none: leave one of them out")
	_, complaint, _ = reprise("compare", "mine.rir", "vec", "--from", filepath.Join(dir, "b.json"))
	assert.Empty(t, complaint)
	_, complaint, _ = reprise("compare", "other.rir", "--from", dir)
	assert.Contains(t, complaint, "--from: the files contain no comparison of other.rir: they have vec, mine.rir")
}

func TestCompareFromReadsStandardInput(t *testing.T) {
	text, err := os.ReadFile(recorded(t, t.TempDir(), "a.json", compared(20, 10, true)))
	require.NoError(t, err)
	out, complaint, status := piped(string(text), "compare", "--from", "-")
	assert.Zero(t, status, complaint)
	assert.Contains(t, out, "vec at 10 on sim:h200")
}

// TestCompareFromSaysWhatItMixes expects tables and a warning for files of several commits and kernel versions.
func TestCompareFromSaysWhatItMixes(t *testing.T) {
	of := func(size int, commit, hash string) compare.Comparison {
		c := compared(20, 10, true)
		c.Size = size
		for i := range c.Rows {
			c.Rows[i].Commit, c.Rows[i].PTXHash = commit, hash
		}
		return c
	}
	for _, c := range []struct {
		later compare.Comparison
		want  string
	}{
		{of(20, "a1", "64"), ""},
		{of(20, "b2", "64"), "reprise: --from: the comparisons were measured at several commits: a1, b2\n"},
		{of(20, "a1", "65"), "reprise: --from: the rows of vec were measured with several versions of its kernels, with the hashes 64, 65\n"},
	} {
		dir := t.TempDir()
		recorded(t, dir, "a.json", of(10, "a1", "64"))
		recorded(t, dir, "b.json", c.later)
		_, complaint, status := reprise("compare", "--from", dir)
		assert.Zero(t, status, complaint)
		assert.Equal(t, c.want, complaint)
	}
}

func TestCompareFromRefuses(t *testing.T) {
	dir := t.TempDir()
	here := compared(20, 10, true)
	elsewhere := here
	elsewhere.Device = "sim:p100"
	one, other := recorded(t, dir, "one.json", here), recorded(t, dir, "other.json", elsewhere)
	rows := recorded(t, dir, "rows.json", compare.Comparison{Workload: "vec", Device: "sim:h200"})
	list := filepath.Join(dir, "list.json")
	require.NoError(t, os.WriteFile(list, []byte("[]"), 0o600)) // as bench --json writes
	text, empty := filepath.Join(dir, "text.json"), t.TempDir()
	require.NoError(t, os.WriteFile(text, []byte("tables"), 0o600))
	strange := func(name string, change func(*compare.Comparison)) string {
		c := compared(20, 10, true)
		change(&c)
		return recorded(t, dir, name, c)
	}
	untimed := strange("untimed.json", func(c *compare.Comparison) { c.Rows[0].ReplayUS = 0 })
	nameless := strange("nameless.json", func(c *compare.Comparison) { c.Rows[1].Name = "" })
	unknown := strange("unknown.json", func(c *compare.Comparison) { c.Workload = "vek" })
	unsized := strange("unsized.json", func(c *compare.Comparison) { c.Size = -1 })
	placeless := strange("placeless.json", func(c *compare.Comparison) { c.Device = "" })
	modeless := strange("modeless.json", func(c *compare.Comparison) { c.Memory = "" })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--from", untimed, "--max-ratio", "1"}, "a comparison in it has 0 us per replay with nimble/graph: reprise compare --json did not write it"},
		{[]string{"--from", nameless}, "--from " + nameless + ": a comparison in it has a row without a name"},
		{[]string{"--from", unknown + "," + one}, `a comparison in it has an unknown workload "vek"`},
		{[]string{"--from", unsized}, "a comparison in it has the size -1"},
		{[]string{"--from", placeless}, "a comparison in it has no device"},
		{[]string{"--from", modeless}, `a comparison in it has an unknown memory mode ""`},
		{[]string{"vec", "--json", "-", "--published", "-"}, "--json and --published cannot both write to standard output"},
		{[]string{"--from", one, "--json", "-", "--published", "-"}, "--json and --published cannot both write to standard output"},
		{[]string{"vec", "--device", "sim:p100", "--size", "20000000", "--published", filepath.Join(dir, "none", "x.md")}, "cannot write " + filepath.Join(dir, "none", "x.md")},
		{[]string{"--from", one, "--size", "10"}, "--size says what to measure, and --from measures nothing: leave one out"},
		{[]string{"--from", one + "," + other}, "--from " + other + ": it was measured on sim:p100 with --sample 0, and the files before it on sim:h200 with --sample 0: print them separately"},
		{[]string{"--from", filepath.Join(dir, "none.json")}, "--from " + filepath.Join(dir, "none.json") + ": no such file or directory"},
		{[]string{"--from", text}, "--from " + text + ": reprise compare --json did not write it: invalid character 'a' in literal true (expecting 'r')"},
		{[]string{"--from", recorded(t, dir, "nothing.json")}, "--from " + filepath.Join(dir, "nothing.json") + ": it contains no comparison: pass a file that reprise compare --json wrote"},
		{[]string{"--from", list}, "--from " + list + ": it is not in the format that reprise compare --json writes"},
		{[]string{"--from", rows}, "--from " + rows + ": a comparison in it has no rows: reprise compare --json did not write it"},
		{[]string{"--from", one + "," + one}, "--from: vec at 10, pinned, 0 threads, occurs twice: name each run once"},
		{[]string{"--from", ""}, "--from: name a file, or a folder of such files"},
		{[]string{"--from", one, "--max-ratio", "NaN"}, "--max-ratio NaN: above 0, or 0 for none"},
		{[]string{"--from", one, "--baseline", dir}, "--baseline says what to measure"},
		{[]string{"--from", empty}, "--from " + empty + ": the folder holds no .json file"},
		{[]string{"dl", "--from", one}, "--from: the files contain no comparison of dl: they have vec"},
		{[]string{"--from", one, "--published", "-"}, "nothing is published of sim:h200: there are figures of sim:gtx960, sim:gtx1660s, sim:p100"},
		{[]string{"--from", other, "--published", "-"}, "nothing is published of vec at 10: there are figures at 20000000, 60000000, 80000000,"},
		{[]string{"vec", "--device", "sim:p100", "--size", "10,20", "--published", "-"}, "--published: nothing is published of vec at 10: there are figures at 20000000, 60000000,"},
	} {
		_, complaint, status := reprise(append([]string{"compare"}, c.args...)...)
		assert.NotZero(t, status, c.args)
		assert.Contains(t, complaint, c.want)
	}
}
