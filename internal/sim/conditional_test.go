package sim

import (
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// A wrapped simulated device has conditional nodes, and logging names what they take.
func TestConformanceOfALoggedDevice(t *testing.T) {
	var log strings.Builder
	unsupported := map[string]string{}
	for _, name := range devicetest.Names() {
		if !strings.HasPrefix(name, "conditional/") {
			unsupported[name] = "TestConformance"
		}
	}
	devicetest.Run(t, func() device.Device { return wrap.Logging(open(t, Options{}), &log) }, unsupported)
	assert.Contains(t, log.String(), "CreateCondition(graph1, 77) = condition1\n")
	assert.Contains(t, log.String(), "AddConditional(graph1, [node1], if condition1 2 bodies decide) = node2\n")
}

// endless launches a loop whose condition nobody changes.
func endless(t *testing.T, d *Device) device.Stream {
	g, err := d.CreateGraph()
	require.NoError(t, err)
	c, err := d.CreateCondition(g, 1)
	require.NoError(t, err)
	_, bodies, err := d.AddConditional(g, nil, device.Conditional{Kind: device.While, Condition: c, Bodies: 1, Label: "spin"})
	require.NoError(t, err)
	for range 2 {
		_, err = d.AddNode(bodies[0], nil, device.Nothing{})
		require.NoError(t, err)
	}
	x, err := d.Instantiate(g)
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	require.NoError(t, d.LaunchGraph(x, s))
	return s
}

func TestEndlessLoopTimesOut(t *testing.T) {
	d := open(t, Options{LoopLimit: 1000})
	err := d.Synchronize(endless(t, d))
	assert.EqualError(t, err, "Synchronize: CUDA_ERROR_LAUNCH_TIMEOUT (702): spin, node 1 of graph instance 1 in stream 1: "+
		"its condition is 1 after 1000 iterations, the most that Options.LoopLimit grants a loop; does its body set it to 0?")
	assert.Equal(t, device.LaunchTimeout, device.CodeOf(d.SynchronizeAll()), "the device is lost")
	require.NoError(t, d.Close())
}

// conditional is a graph with one conditional node.
func (x *timeline) conditional(kind device.ConditionalKind, initial uint32, bodies int) (g device.Graph, c device.Condition, n device.Node, list []device.Graph) {
	g, err := x.CreateGraph()
	require.NoError(x.t, err)
	c, err = x.CreateCondition(g, initial)
	require.NoError(x.t, err)
	n, list, err = x.AddConditional(g, nil, device.Conditional{Kind: kind, Condition: c, Bodies: bodies, Label: "node"})
	require.NoError(x.t, err)
	return g, c, n, list
}

func (x *timeline) add(g device.Graph, w device.Work, deps ...device.Node) device.Node {
	n, err := x.AddNode(g, deps, w)
	require.NoError(x.t, err)
	return n
}

func (x *timeline) launch(g device.Graph) func() error {
	e, err := x.Instantiate(g)
	require.NoError(x.t, err)
	return func() error { return x.LaunchGraph(e, x.s1) }
}

func TestDecisionsTakeTime(t *testing.T) {
	for _, c := range []struct {
		condition uint32
		body      int // time of the body
	}{{1, 4 + 300 + 1 + 200}, {0, 4 + 200}, {0, 0}} {
		x := newTimeline(t)
		g, _, n, list := x.conditional(device.If, c.condition, 2)
		count := 2
		if c.body > 0 {
			x.add(list[0], x.out, x.add(list[0], x.in))
			x.add(list[1], x.out)
			count += 3
		}
		x.add(g, x.in, n)
		launch := x.launch(g)
		x.takes(20+count, "LaunchGraph", launch)
		x.takes(10+8+c.body+1+300+4, "its run", func() error { return x.Synchronize(x.s1) })
	}
}

// countdown is a kernel of the conformance suite.
func (x *timeline) countdown() device.Function {
	text, err := os.ReadFile("../../device/devicetest/conditional.ptx")
	require.NoError(x.t, err)
	m, err := x.LoadModule("conditional.ptx", string(text))
	require.NoError(x.t, err)
	f, err := x.Function(m, "countdown")
	require.NoError(x.t, err)
	return f
}

func countdown(f device.Function, c device.Condition, p device.Ptr) *device.Launch {
	one := device.Dim3{X: 1, Y: 1, Z: 1}
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(c)), uint64(p))
	return &device.Launch{Function: f, Grid: one, Block: one, Params: params}
}

// The pieces of a loop follow each other with the gaps that the profile has, and are
// the critical path; those of an iteration bear its number.
func TestTimelineOfALoop(t *testing.T) {
	var spans []Span
	x := newTimeline(t, func(s Span) { spans = append(spans, s) })
	g, c, _, list := x.conditional(device.While, 1, 1)
	x.out.Label = "out"
	x.add(list[0], countdown(x.countdown(), c, x.dev), x.add(list[0], x.out))
	launch := x.launch(g)
	require.NoError(t, x.Write(x.dev, []byte{3, 0, 0, 0}))
	spans = nil
	x.StartTimeline()
	require.NoError(t, launch())
	require.NoError(t, x.Synchronize(x.s1))

	var names []string
	const us = time.Microsecond
	for i, s := range spans {
		names = append(names, s.Kind+" "+s.Label)
		switch s.Kind {
		case "while":
			assert.Equal(t, 8*us, s.End-s.Begin)
		case "copy":
			assert.Equal(t, 200*us, s.End-s.Begin)
		}
		if i > 0 {
			gap := map[string]time.Duration{"while": us, "copy": 4 * us, "launch": us}[s.Kind]
			assert.InDelta(t, spans[i-1].End+gap, s.Begin, 1, s.Label) // Span cuts off picoseconds
		}
	}
	assert.Equal(t, []string{"while node", "copy out [1]", "launch countdown [1]", "while node", "copy out [2]", "launch countdown [2]",
		"while node", "copy out [3]", "launch countdown [3]", "while node"}, names)

	total, steps, work := x.Timeline()
	took, by := int64(0), map[string]int64{}
	for _, s := range steps {
		took += s.Took
		by[s.Limit] += s.Took
	}
	assert.Equal(t, total, took)
	assert.EqualValues(t, 4*8*us, by["condition"]/1000, "%v", by)
	assert.EqualValues(t, 3*4*us, by["graph body"]/1000)
	assert.Len(t, work, len(names))
}

// A million iterations leave nothing behind, also when races are looked for.
func TestLoopsDoNotPileUp(t *testing.T) {
	const rounds = 1 << 20
	for _, race := range []Race{RaceOff, RaceOn} {
		d := open(t, Options{LoopLimit: rounds, Race: race})
		s := endless(t, d)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		require.Equal(t, device.LaunchTimeout, device.CodeOf(d.Synchronize(s)))
		runtime.GC()
		runtime.ReadMemStats(&after)
		assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20), "bytes")
		assert.GreaterOrEqual(t, d.Now(), rounds*time.Duration(2)*time.Microsecond)
		if race == RaceOn {
			assert.Less(t, len(d.races.order.work), 100)
		}
	}
}

// raced is what is found when the graph is launched once.
func raced(t *testing.T, x *timeline, g device.Graph) []Finding {
	require.NoError(t, x.launch(g)())
	var found *RaceError
	if err := x.Synchronize(x.s1); err != nil {
		require.ErrorAs(t, err, &found)
		return found.Findings
	}
	return nil
}

func racing(t *testing.T) *timeline {
	y := &timeline{Device: open(t, Options{Race: RaceOn}), t: t}
	var err error
	y.s1, err = y.CreateStream(0)
	require.NoError(t, err)
	y.dev, err = y.Alloc(4096)
	require.NoError(t, err)
	require.NoError(t, y.Write(y.dev, append([]byte{5, 0, 0, 0}, make([]byte, 4092)...)))
	return y
}

func set(p device.Ptr, label string) device.Work {
	return &device.Memset{Dst: p, Width: 4, Count: 4, Label: label}
}

func works(f Finding) (list []string) {
	for _, a := range f.Accesses {
		list = append(list, a.Work+", "+a.Where)
	}
	return list
}

// Two nodes of a body that nothing orders race, once for all iterations; successive
// iterations, and what comes before and after the loop, do not.
func TestRacesWithinABody(t *testing.T) {
	x := racing(t)
	g, c, n, list := x.conditional(device.While, 1, 1)
	x.add(list[0], countdown(x.countdown(), c, x.dev))
	x.add(list[0], set(x.dev+64, "a"))
	x.add(list[0], set(x.dev+72, "b"))
	x.add(g, set(x.dev+64, "after"), n)
	found := raced(t, x, g)
	require.Len(t, found, 1)
	assert.Equal(t, []string{"a, node 2 of the body of node 1 of graph instance 1 in stream 1",
		"b, node 3 of the body of node 1 of graph instance 1 in stream 1"}, works(found[0]))
}

// Towards the rest of the graph a body is where its node is, also deeper down.
func TestRacesWithABody(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		x := racing(t)
		g, c, n, list := x.conditional(device.While, 1, 1)
		inner, err := x.CreateCondition(g, 1)
		require.NoError(t, err)
		x.add(list[0], countdown(x.countdown(), c, x.dev))
		_, list, err = x.AddConditional(list[0], nil, device.Conditional{Kind: device.Switch, Condition: inner, Bodies: 2})
		require.NoError(t, err)
		x.add(list[1], set(x.dev+64, "deep"))
		var deps []device.Node
		if ordered {
			deps = []device.Node{n}
		}
		x.add(g, set(x.dev+64, "beside"), deps...)
		found := raced(t, x, g)
		if ordered {
			assert.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		assert.ElementsMatch(t, []string{"deep, node 1 of body 1 of node 2 of the body of node 1 of graph instance 1 in stream 1",
			"beside, node 2 of graph instance 1 in stream 1"}, works(found[0]))
	}
}

// A kernel beside the node that reads its condition races for it.
func TestRacesForACondition(t *testing.T) {
	x := racing(t)
	g, c, _, list := x.conditional(device.If, 1, 1)
	x.add(list[0], set(x.dev+64, "a"))
	x.add(g, countdown(x.countdown(), c, x.dev))
	found := raced(t, x, g)
	require.Len(t, found, 1)
	assert.Contains(t, found[0].Subject, "bytes 0-3 of condition 1 at ")
	assert.ElementsMatch(t, []string{"node, node 1 of graph instance 1 in stream 1", "launch of countdown, node 2 of graph instance 1 in stream 1"}, works(found[0]))
}

// The memory of conditions goes when nothing can use it any more, and not before.
func TestConditionsAreFreed(t *testing.T) {
	x := racing(t)
	f := x.countdown()
	used := x.memory.Used()
	for range 3 {
		g, c, _, list := x.conditional(device.While, 1, 1)
		x.add(list[0], countdown(f, c, x.dev))
		e, err := x.Instantiate(g)
		require.NoError(t, err)
		require.NoError(t, x.LaunchGraph(e, x.s1))
		require.NoError(t, x.DestroyGraph(g))
		require.NoError(t, x.DestroyGraphExec(e))
		assert.Error(t, x.Free(device.Ptr(c)), "a handle is no allocation")
		require.NoError(t, x.Synchronize(x.s1))
		require.NoError(t, x.SynchronizeAll())
		assert.Equal(t, used, x.memory.Used())
	}
}

func TestSampledDevicesHaveNoConditions(t *testing.T) {
	d := open(t, Options{Sample: 4})
	g, err := d.CreateGraph()
	require.NoError(t, err)
	_, err = d.CreateCondition(g, 1)
	assert.Equal(t, device.NotSupported, device.CodeOf(err))
}
