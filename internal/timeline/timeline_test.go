package timeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// workload returns the program of a workload at its smallest size.
func workload(t testing.TB, name string) tenants.Program {
	w, err := bench.LookupWorkload(name)
	require.NoError(t, err)
	return tenants.OfWorkload(w, bench.Params{Size: w.Tiny, Blocks: 8})
}

// program is a program on a device, with its planner.
type program struct {
	t   testing.TB
	dev device.Device
	*timeline.Program
	*timeline.Planner
	in *tenants.Instance
}

func on(t testing.TB, dev device.Device, p tenants.Program) *program {
	t.Helper()
	in, err := p.New(dev, 1, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	x := &program{t: t, dev: dev, in: in, Program: &timeline.Program{Name: in.Graph.Name, Graph: in.Graph, Bound: in.Bound, Reset: in.Reset}}
	x.Planner, err = timeline.NewPlanner(context.Background(), dev, x.Program)
	require.NoError(t, err)
	return x
}

// record records a timeline and checks the results.
func (x *program) record(strategy string, form graphexec.Backend) *timeline.Timeline {
	x.t.Helper()
	plan, err := x.Plan(strategy, form)
	require.NoError(x.t, err)
	line, err := timeline.Record(context.Background(), x.dev, x.Program, plan.Schedule, form)
	require.NoError(x.t, err)
	require.NoError(x.t, x.in.Check())
	return line
}

func open(t *testing.T) *sim.Device {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// looped returns a program whose loop runs three iterations of two operations, and a branch with one operation in each body.
func looped() tenants.Program {
	a, b, scalar := ir.BufferID(0), ir.BufferID(1), ir.Range{Buffer: 2, Lo: 0, Hi: 4}
	fill := func(of ir.BufferID, lo int64, label string) ir.Op {
		return ir.Op{Kind: ir.KindMemset, Cost: -1, Label: label, Memset: &ir.Memset{Dst: ir.Range{Buffer: of, Lo: lo, Hi: lo + 64}, Value: ir.Scalar{Type: ir.U32}}}
	}
	g := &ir.Graph{Name: "looped", Buffers: []ir.Buffer{
		{Name: "a", Elem: ir.U8, Len: 256, Role: ir.Output}, {Name: "b", Elem: ir.U8, Len: 256, Role: ir.Output}, {Name: "scalar", Elem: ir.U32, Len: 1, Role: ir.InOut},
	}}
	body := func(ops ...ir.Op) *ir.Graph { return &ir.Graph{Name: g.Name, Buffers: g.Buffers, Ops: ops} }
	never := ir.Condition{Scalar: scalar, Is: ir.Above, Value: 1}
	zero := fill(2, 0, "zero")
	zero.Memset.Dst = scalar
	g.Ops = []ir.Op{
		fill(a, 0, "first"),
		ir.ControlOp(ir.KindLoop, ir.Control{Condition: never, Limit: 3, Every: 1, Bodies: []*ir.Graph{body(fill(a, 64, "left"), fill(b, 64, "right"), zero)}}),
		ir.ControlOp(ir.KindBranch, ir.Control{Condition: never, Bodies: []*ir.Graph{body(fill(a, 128, "then")), body(fill(b, 128, "otherwise"))}}),
	}
	return tenants.OfWorkload(bench.OfFile(g.Name, &ir.File{Graph: g}), bench.Params{})
}

// chrome is a timeline as a viewer reads it.
type chrome struct {
	TraceEvents []struct {
		Name, Cat, Ph string
		TS, Dur       float64
		PID, TID, ID  int
		Args          map[string]any
	}
}

var schema = func() *jsonschema.Schema { return jsonschema.NewCompiler().MustCompile("schema.json") }()

// parse checks a timeline against the schema and reads it.
func parse(t *testing.T, line *timeline.Timeline) (c chrome) {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, line.WriteChrome(&text))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text.Bytes()))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc))
	require.NoError(t, json.Unmarshal(text.Bytes(), &c))
	return c
}

// check checks the rules of the format that a schema cannot state: slices of a thread follow each other, every thread has a
// name, and both ends of a flow are in a slice of their thread.
func check(t *testing.T, line *timeline.Timeline) {
	t.Helper()
	c := parse(t, line)
	type thread struct{ pid, tid int }
	named, ends, flows := map[thread]bool{}, map[thread]float64{}, map[int][]string{}
	var seen []int
	for i, e := range c.TraceEvents {
		at := thread{e.PID, e.TID}
		switch e.Ph {
		case "M":
			named[at] = named[at] || e.Name == "thread_name"
		case "X":
			require.True(t, named[at], "%+v", e)
			require.GreaterOrEqual(t, e.TS, ends[at]-1e-9, "%s begins before the end of the slice before it", e.Name)
			ends[at] = e.TS + e.Dur
			require.LessOrEqual(t, ends[at], float64(line.Total)/1e6+1e-9)
			seen = append(seen, i)
		case "s", "f":
			inside := slices.ContainsFunc(seen, func(i int) bool {
				s := c.TraceEvents[i]
				return s.PID == e.PID && s.TID == e.TID && s.TS <= e.TS+1e-9 && e.TS <= s.TS+s.Dur+1e-9
			})
			require.True(t, inside, "an end of flow %d is in no slice", e.ID)
			flows[e.ID] = append(flows[e.ID], e.Ph)
		}
	}
	for id, phases := range flows {
		require.Equal(t, []string{"s", "f"}, phases, "flow %d", id)
	}
	require.Len(t, flows, len(line.Waits()))
}

// TestTimelinesAreValid records every strategy over both back ends.
func TestTimelinesAreValid(t *testing.T) {
	waits := 0
	img := on(t, open(t), workload(t, "img"))
	for _, form := range graphexec.Backends() {
		for _, s := range optimizer.Strategies() {
			if s.Name == "search" {
				continue // takes longest, and its plans are like those of auto
			}
			line := img.record(s.Name, form)
			check(t, line)
			require.Len(t, line.Spans, line.Schedule.Graph.Len(), "an operation is missing")
			waits += len(line.Waits())
			checkPath(t, line)
			require.Positive(t, line.Uncertainty)
		}
	}
	assert.Greater(t, waits, 30)
}

// checkPath checks that the critical path is as long as the replay, and that no part of it is counted twice.
func checkPath(t *testing.T, line *timeline.Timeline) {
	t.Helper()
	total, onPath := int64(0), int64(0)
	for _, step := range line.Steps {
		require.Equal(t, total, step.Begin)
		total += step.Took
	}
	require.Equal(t, line.Total, total)
	for i := range line.Spans {
		s := &line.Spans[i]
		require.LessOrEqual(t, s.Ready, s.Begin)
		require.LessOrEqual(t, s.Begin, s.End)
		onPath += s.OnPath + s.Gap
	}
	require.LessOrEqual(t, onPath, line.Total)
}

// TestWaitsAreKept checks that no operation begins before the end of those that it waits for.
func TestWaitsAreKept(t *testing.T) {
	line := on(t, open(t), workload(t, "img")).record("nimble", graphexec.Graph)
	require.NotEmpty(t, line.Waits())
	require.Len(t, line.Waits(), line.Schedule.Syncs(), "every wait of this schedule is between operations that ran")
	for _, w := range line.Waits() {
		assert.LessOrEqual(t, line.Spans[w.From].End, line.Spans[w.To].Begin)
	}
}

// TestLoopsHaveASpanForEachIteration records a loop and a branch.
func TestLoopsHaveASpanForEachIteration(t *testing.T) {
	for _, form := range graphexec.Backends() {
		line := on(t, open(t), looped()).record("nimble", form)
		check(t, line)
		var titles []string
		for i := range line.Spans {
			s := &line.Spans[i]
			if s.Engine != timeline.Decision && s.Title()[:4] != "zero" {
				titles = append(titles, fmt.Sprintf("%s%s", s.Path, s.Title()))
			}
		}
		slices.Sort(titles)
		assert.Equal(t, []string{
			"%1/left [1]", "%1/left [2]", "%1/left [3]", "%1/right [1]", "%1/right [2]", "%1/right [3]", "%2/else/otherwise", "first",
		}, titles, "%v", form)
	}
}

// gpu is a device that is no simulated one to package timeline.
type gpu struct{ device.Device }

func (g gpu) Unwrap() device.Device { return g.Device }

// TestEventsAgreeWithTheSimulator records the same replay with events and by the simulator.
func TestEventsAgreeWithTheSimulator(t *testing.T) {
	for _, name := range []string{"img", "hits"} {
		dev := open(t)
		timed := on(t, gpu{dev}, workload(t, name)).record("nimble", graphexec.Graph)
		assert.Equal(t, timeline.Events, timed.Source)
		assert.Equal(t, "streams", timed.Backend, "a graph has no events inside")
		check(t, timed)
		exact := on(t, dev, workload(t, name)).record("nimble", graphexec.Streams)
		require.Len(t, timed.Spans, len(exact.Spans))
		took := map[ir.OpID]int64{}
		for i := range exact.Spans {
			took[exact.Spans[i].Op] = exact.Spans[i].End - exact.Spans[i].Begin
		}
		const us = 1_000_000
		for i := range timed.Spans {
			s := &timed.Spans[i]
			assert.GreaterOrEqual(t, s.End-s.Begin+1000, took[s.Op], s.Title())
			assert.InDelta(t, took[s.Op], s.End-s.Begin, 2.5*us, "%s: the gaps of the stream are included", s.Title())
		}
		for _, w := range timed.Waits() {
			assert.LessOrEqual(t, timed.Spans[w.From].End, timed.Spans[w.To].Begin+us)
		}
	}
}

// TestEventsRefuseLoops expects an error that names the remedy.
func TestEventsRefuseLoops(t *testing.T) {
	dev := gpu{open(t)}
	in, err := looped().New(dev, 1, 1)
	require.NoError(t, err)
	plan, err := optimizer.Plan(in.Graph, optimizer.Options{Streams: true})
	require.NoError(t, err)
	_, err = timeline.Record(context.Background(), dev, &timeline.Program{Name: "looped", Graph: in.Graph, Bound: in.Bound, Reset: in.Reset}, plan.Schedule, graphexec.Streams)
	require.ErrorContains(t, err, "simulated device")
	require.NoError(t, in.Close())
}
