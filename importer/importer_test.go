package importer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/ir"
)

// TestRead runs the cases in testdata. The argument of a case is the name of a file, its input the contents,
// and its output the graph or the error.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o importer.Options
			if d.HasArg("cost") {
				o.Cost = time.Second
			}
			if d.HasArg("ms") {
				o.Unit = time.Millisecond
			}
			d.MaybeScanArgs(t, "format", &o.Format)
			g, err := importer.Read(d.CmdArgs[0].Key, d.Input+"\n", o)
			if err != nil {
				return err.Error() + "\n"
			}
			require.NoError(t, ir.Verify(g))
			return ir.Print(g)
		})
	})
}

// TestFormatsAgree writes random graphs in every format, tasks and edges shuffled, and
// expects the same tasks, costs and edges back.
func TestFormatsAgree(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 20))
		want := randomTasks(r)
		for format, write := range writers {
			src := write(r, want)
			g, err := importer.Read("x", src, importer.Options{Format: format})
			require.NoError(t, err, "seed %d as %s:\n%s", seed, format, src)
			require.NoError(t, ir.Verify(g), "seed %d as %s", seed, format)
			got := tasksOf(g)
			if format == "edges" { // has no costs
				for name := range got {
					got[name] = known{want[name].micros, got[name].preds}
				}
			}
			require.Equal(t, want, got, "seed %d as %s:\n%s", seed, format, src)
		}
	}
}

// TestReadSkipsAByteOrderMark expects that a byte order mark is not part of the first name.
func TestReadSkipsAByteOrderMark(t *testing.T) {
	g, err := importer.Read("x.txt", "\ufeffa b\na c\n", importer.Options{})
	require.NoError(t, err)
	assert.Equal(t, 3, g.Len())
	_, err = importer.Read("x.dot", "\ufeffdigraph { a -> b }", importer.Options{})
	require.NoError(t, err)
	_, err = importer.Read("x.txt", "\xff\xfea\x00 \x00b\x00", importer.Options{})
	assert.ErrorContains(t, err, "x.txt:1:1: there is a zero byte in it, as in UTF-16")
}

// TestALongStatementStaysLinear reads a long chain of edges in one statement. It would take minutes if the parser
// copied the nodes so far for each edge.
func TestALongStatementStaysLinear(t *testing.T) {
	const n = 1 << 18
	var b strings.Builder
	b.WriteString("digraph { 0")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, " -> %d", i)
	}
	b.WriteString(" }")
	start := time.Now()
	g, err := importer.Read("x.dot", b.String(), importer.Options{})
	require.NoError(t, err)
	assert.Equal(t, n, g.Len())
	assert.Less(t, time.Since(start), 20*time.Second)
}

// known holds the properties of a task that every format must preserve.
type known struct {
	micros int64
	preds  string // sorted names
}

func randomTasks(r *rand.Rand) map[string]known {
	tasks := map[string]known{}
	n := 1 + r.IntN(12)
	number := r.Perm(n) // names in no topological order
	for v := range n {
		var preds []string
		for u := range v {
			if r.IntN(3) == 0 {
				preds = append(preds, fmt.Sprint(100+number[u]))
			}
		}
		slices.Sort(preds)
		tasks[fmt.Sprint(100+number[v])] = known{r.Int64N(1000), strings.Join(preds, " ")}
	}
	return tasks
}

// tasksOf returns the tasks of a graph by name. A label is missing if it equals the number of the
// operation; names here are 100 or more, and numbers are less.
func tasksOf(g *ir.Graph) map[string]known {
	tasks := map[string]known{}
	for _, op := range g.Ops {
		var preds []string
		for _, u := range op.After {
			preds = append(preds, g.Ops[u].Label)
		}
		slices.Sort(preds)
		tasks[op.Label] = known{op.Cost / 1000, strings.Join(preds, " ")}
	}
	return tasks
}

// shuffled returns the names of tasks in random order.
func shuffled(r *rand.Rand, tasks map[string]known) []string {
	var names []string
	for n := range tasks {
		names = append(names, n)
	}
	slices.Sort(names)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

var writers = map[string]func(*rand.Rand, map[string]known) string{
	"dot": func(r *rand.Rand, tasks map[string]known) string {
		var b strings.Builder
		b.WriteString("digraph {\n")
		for _, n := range shuffled(r, tasks) {
			if ps := strings.Fields(tasks[n].preds); len(ps) > 0 {
				fmt.Fprintf(&b, "{%s} -> %s\n", strings.Join(ps, "; "), n)
			}
		}
		for _, n := range shuffled(r, tasks) {
			fmt.Fprintf(&b, "%s [cost=\"%dus\"];", n, tasks[n].micros)
		}
		return b.String() + "}"
	},
	"edges": func(r *rand.Rand, tasks map[string]known) string {
		var b strings.Builder
		for _, n := range shuffled(r, tasks) {
			b.WriteString(n + "\n")
			for _, p := range strings.Fields(tasks[n].preds) {
				b.WriteString(p + "\t" + n + "\n")
			}
		}
		return b.String()
	},
	"stg": func(r *rand.Rand, tasks map[string]known) string {
		var b strings.Builder
		fmt.Fprintln(&b, len(tasks))
		for _, n := range shuffled(r, tasks) {
			ps := strings.Fields(tasks[n].preds)
			fmt.Fprintf(&b, "%s %d %d %s\n", n, tasks[n].micros, len(ps), strings.Join(ps, " "))
		}
		return b.String()
	},
	"wfcommons": func(r *rand.Rand, tasks map[string]known) string {
		var list, times []string
		for _, n := range shuffled(r, tasks) {
			parents := "[]"
			if ps := strings.Fields(tasks[n].preds); len(ps) > 0 {
				parents = `["` + strings.Join(ps, `", "`) + `"]`
			}
			list = append(list, fmt.Sprintf(`{"id": %q, "parents": %s}`, n, parents))
			times = append(times, fmt.Sprintf(`{"id": %q, "runtimeInSeconds": %de-6}`, n, tasks[n].micros))
		}
		parts := []string{
			`"specification": {"tasks": [` + strings.Join(list, ", ") + `]}`,
			`"execution": {"tasks": [` + strings.Join(times, ", ") + `]}`,
		}
		if r.IntN(2) == 0 {
			slices.Reverse(parts)
		}
		return `{"workflow": {` + strings.Join(parts, ", ") + `}}`
	},
}

func TestFormatFollowsTheName(t *testing.T) {
	for _, name := range []string{"x.DOT", "a/x.gv", "x.txt", "x.stg", "x.json"} {
		_, err := importer.Read(name, "", importer.Options{})
		assert.ErrorAs(t, err, new(*ir.Error), "%s: the text is empty, the format known", name)
	}
	_, err := importer.Read("x.png", "", importer.Options{})
	assert.EqualError(t, err, `x.png: the extension ".png" is not that of a format: select one of dot, edges, counted, stg, wfcommons`)
	_, err = importer.Read("x.dot", "", importer.Options{Format: "gml"})
	assert.EqualError(t, err, `unknown format "gml": there are dot, edges, counted, stg, wfcommons`)
}

// TestProductsOfSubgraphsAreBounded expects errors for short texts that would take too much memory.
func TestProductsOfSubgraphsAreBounded(t *testing.T) {
	var nodes strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&nodes, "a%d;", i)
	}
	left := nodes.String()
	src := "digraph { {" + left + "} -> {" + strings.ReplaceAll(left, "a", "b") + "} }"
	_, err := importer.Read("x.dot", src, importer.Options{})
	assert.ErrorContains(t, err, "edges between subgraphs stand for more than 1048576 edges")
	_, err = importer.Read("x.dot", "digraph "+strings.Repeat("{", 100000), importer.Options{})
	assert.ErrorContains(t, err, "subgraphs are nested more than 1000 deep")
}

// FuzzRead checks that no text makes a parser panic, and that an accepted text gives a valid graph that
// can be printed and parsed. The first byte selects the format.
func FuzzRead(f *testing.F) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 21))
		for i, format := range importer.Formats() {
			if write := writers[format.Name]; write != nil {
				f.Add(uint8(i), write(r, randomTasks(r)))
			}
		}
	}
	f.Add(uint8(2), "3 2\n0 1\n1 2")
	f.Add(uint8(0), "strict digraph \"a\" + \"b\" { node [cost=2, label=<<b>x</b>>] a:n -> {b c:p:s} -> subgraph d {e} [x]; k = v }")
	f.Fuzz(func(t *testing.T, format uint8, src string) {
		if len(src) > 4<<10 {
			return
		}
		all := importer.Formats()
		g, err := importer.Read("fuzz", src, importer.Options{Format: all[int(format)%len(all)].Name})
		if err != nil {
			require.ErrorAs(t, err, new(*ir.Error))
			return
		}
		require.NoError(t, ir.Verify(g))
		again, err := ir.Parse("again.rir", ir.Print(g))
		require.NoError(t, err)
		require.Equal(t, ir.Print(g), ir.Print(again.Graph))
	})
}
