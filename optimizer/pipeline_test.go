package optimizer

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// TestPlan plans the .rir text of each case and compares what the passes named
// by dump print:
//
//	plan [strategy=name] [passes=(name,...)] [also=(name,...)] [dump=(name,...)]
func TestPlan(t *testing.T) {
	datadriven.Walk(t, "testdata/plan", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "plan", d.Cmd)
			return planText(t, d)
		})
	})
}

func planText(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	opts := Options{Verify: true, Dump: map[string]io.Writer{}}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "strategy":
			opts.Strategy = arg.Vals[0]
		case "passes":
			opts.Passes = arg.Vals
		case "also":
			opts.Also = arg.Vals
		case "dump":
			for _, name := range arg.Vals {
				opts.Dump[name] = &out
			}
		default:
			d.Fatalf(t, "unknown argument %s", arg.Key)
		}
	}
	f, err := ir.Parse("", d.Input)
	require.NoError(t, err)
	if _, err := Plan(f.Graph, opts); err != nil {
		return err.Error()
	}
	return out.String()
}

// Every strategy, on graphs with every kind of operation: the independent
// verifier of ir accepts each step, and the reduction keeps what the definition
// of a conflict demands.
func TestPlansOfRandomGraphsVerify(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	for round := range 12 {
		g := irtest.Random(r, 1+r.IntN(60))
		want := densetest.Closure(g.Len(), allConflicts(g))
		for _, s := range Strategies() {
			res := plan(t, g, s.Name)
			require.Equal(t, want, densetest.Closure(g.Len(), dagOf(res.Reduced).Edges()), "round %d", round)
			require.Equal(t, want, densetest.Closure(g.Len(), dagOf(res.Analyzed).Edges()), "round %d", round)
			require.NoError(t, ir.VerifySchedule(res.Schedule))
		}
	}
}

// The same dependencies give the same schedule, whatever order they came in.
func TestPlansAreDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	for _, c := range densetest.Published {
		g := loadDAG(t, c.Name)
		shuffled := slices.Clone(g.Deps())
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		var causes ir.Causes
		for i := range shuffled {
			shuffled[i].Cause = causes.ID(g.Cause(shuffled[i]))
		}
		h, err := g.WithDeps(ir.Analyzed, shuffled, causes.Ranges())
		require.NoError(t, err)
		for _, name := range strategiesFor(g.Len()) {
			if g.Len() > 300 && strings.Contains(name, "(") {
				continue // for a second: the small graphs see what it may take
			}
			first, second := plan(t, g, name).Schedule, plan(t, h, name).Schedule
			require.Equal(t, ir.PrintSchedule(first), ir.PrintSchedule(second), "%s, %s", c.Name, name)
		}
	}
}

// Progress names every pass that runs, in order, before it does.
func TestPlansTellTheirProgress(t *testing.T) {
	passes := []string{"hazards", "reduce", "assign", "syncs"}
	var told []string
	_, err := Plan(loadDAG(t, "resnet50"), Options{Passes: passes, Progress: func(pass string, done, total int) {
		assert.Equal(t, len(told), done)
		assert.Equal(t, len(passes), total)
		told = append(told, pass)
	}})
	require.NoError(t, err)
	assert.Equal(t, passes, told)
}

func TestPipelineOrderIsChecked(t *testing.T) {
	assert.NotPanics(t, func() { checkPipeline(passes) })
	swapped := slices.Clone(passes)
	at := slices.IndexFunc(swapped, func(p pass) bool { return p.name == "hazards" })
	swapped[at], swapped[at+1] = swapped[at+1], swapped[at]
	assert.PanicsWithValue(t, "BUG: pass hazards must come before reduce: only known dependencies can imply one another",
		func() { checkPipeline(swapped) })
	assert.Panics(t, func() { checkPipeline(passes[1:]) }, "a constraint on a pass that is not there")
}

func TestEveryPassAndStrategyIsDocumented(t *testing.T) {
	for _, d := range slices.Concat(Passes(), Strategies()) {
		assert.NotEmpty(t, d.Name)
		assert.NotEmpty(t, d.Doc, d.Name)
	}
	name, _, err := strategyNamed("")
	require.NoError(t, err)
	assert.Equal(t, DefaultStrategy, name)
}

// The time to plan is part of what a tracer's first replay costs.
func BenchmarkPlan(b *testing.B) {
	for _, c := range densetest.Published {
		g := loadDAG(b, c.Name)
		for _, name := range strategiesFor(g.Len()) {
			b.Run(c.Name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := Plan(g, Options{Strategy: name, Passes: []string{"hazards", "reduce", "assign", "syncs"}})
					require.NoError(b, err)
				}
			})
		}
	}
	const ops = 1_000_000
	g := bigTrace(ops)
	for _, name := range strategiesFor(ops) {
		b.Run(fmt.Sprintf("trace/ops=%d/%s", ops, name), func(b *testing.B) {
			for b.Loop() {
				res, err := Plan(g, Options{Strategy: name, Passes: []string{"hazards", "reduce", "assign", "syncs"}})
				require.NoError(b, err)
				b.ReportMetric(float64(len(res.Reduced.Deps())), "deps")
				b.ReportMetric(float64(res.Schedule.Lanes), "lanes")
				b.ReportMetric(float64(res.Schedule.Syncs()), "syncs")
			}
		})
	}
}

// TestMissingOperandsAreNamed plans operations without the field of their kind, and with a buffer that the graph lacks.
func TestMissingOperandsAreNamed(t *testing.T) {
	for _, op := range []ir.Op{
		{Kind: ir.KindLaunch}, {Kind: ir.KindCopy}, {Kind: ir.KindMemset}, {Kind: ir.KindPrefetch}, {Kind: ir.KindLoop}, {Kind: ir.KindBranch},
		{Kind: ir.KindHost, Uses: []ir.Access{{Range: ir.Range{Buffer: 7, Lo: 0, Hi: 4}}}},
		{Kind: ir.KindMemset, Memset: &ir.Memset{Dst: ir.Range{Buffer: -1, Hi: 4}}},
	} {
		_, err := Plan(&ir.Graph{Name: "g", Ops: []ir.Op{{}, op}}, Options{})
		require.ErrorIs(t, err, ir.ErrMissing)
		require.ErrorContains(t, err, "operation %1 of g")
	}
}
