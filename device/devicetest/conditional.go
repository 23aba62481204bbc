package devicetest

import (
	_ "embed"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

//go:embed conditional.ptx
var conditionalKernels string

var conditionalBehaviours = []behaviour{
	{"conditional/if", conditionalIf},
	{"conditional/if with an else", conditionalElse},
	{"conditional/switch", conditionalSwitch},
	{"conditional/while", conditionalWhile},
	{"conditional/while a sum is not small", conditionalSum},
	{"conditional/while nothing sets the condition", conditionalKept},
	{"conditional/while that does not begin", conditionalNever},
	{"conditional/nested", conditionalNested},
	{"conditional/each launch begins anew", conditionalAgain},
	{"conditional/what follows waits for the last iteration", conditionalFollowed},
	{"conditional/bodies hold every kind of work but host calls", conditionalKinds},
	{"conditional/update of a body changes later launches only", conditionalUpdate},
	{"conditional/instance outlives its graph", conditionalOutlived},
	{"conditional/bad ones are refused", conditionalErrors},
}

// loop is a graph of conditional nodes under construction.
type loop struct {
	*bench
	device.Looper
	graph                   device.Graph
	affine, choose, counted device.Function
	halve, stop             device.Function
}

func (b *bench) loop() *loop {
	b.t.Helper()
	l, ok := b.Device.(device.Looper)
	require.True(b.t, ok, "the device has no conditional nodes; list this as unsupported")
	m, err := b.LoadModule("conditional.ptx", conditionalKernels)
	require.NoError(b.t, err)
	b.later(func() error { return b.UnloadModule(m) })
	x := &loop{bench: b, Looper: l, graph: b.graph(), affine: b.function("affine")}
	for name, f := range map[string]*device.Function{"choose": &x.choose, "countdown": &x.counted, "halve": &x.halve, "stop": &x.stop} {
		*f, err = b.Function(m, name)
		require.NoError(b.t, err)
	}
	return x
}

func (x *loop) condition(initial uint32) device.Condition {
	x.t.Helper()
	c, err := x.CreateCondition(x.graph, initial)
	require.NoError(x.t, err)
	return c
}

func (x *loop) conditional(g device.Graph, kind device.ConditionalKind, c device.Condition, bodies int, deps ...device.Node) (device.Node, []device.Graph) {
	x.t.Helper()
	n, list, err := x.AddConditional(g, deps, device.Conditional{Kind: kind, Condition: c, Bodies: bodies, Label: "decide"})
	require.NoError(x.t, err)
	require.Len(x.t, list, bodies)
	return n, list
}

// run launches the graph once and waits.
func (x *loop) run() {
	x.t.Helper()
	s, exec := x.stream(), x.instantiate(x.graph)
	require.NoError(x.t, x.LaunchGraph(exec, s))
	require.NoError(x.t, x.Synchronize(s))
}

func one(f device.Function, label string, args ...any) *device.Launch {
	return &device.Launch{Function: f, Label: label, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 1, Y: 1, Z: 1}, Params: params(args...)}
}

// chooses returns a launch that sets a condition to the word at p.
func (x *loop) chooses(c device.Condition, p device.Ptr) device.Work {
	return one(x.choose, "choose", c, p, uint32(0))
}

// counts returns a launch that decrements the word at p and sets the condition to 0 when the word reaches 0.
func (x *loop) counts(c device.Condition, p device.Ptr) device.Work {
	return one(x.counted, "countdown", c, p)
}

func (x *loop) word(p device.Ptr) uint32 { return binary.LittleEndian.Uint32(x.read(p, 4)) }

// chosen runs a node of that kind once for each value. Body i adds i+1 to a word. chosen returns the sums added.
func (b *bench) chosen(kind device.ConditionalKind, bodies int, values ...uint32) (added []uint32) {
	b.t.Helper()
	x := b.loop()
	c := x.condition(77)
	value, sum := x.alloc(4), x.alloc(4)
	set := x.node(x.graph, x.chooses(c, value))
	_, list := x.conditional(x.graph, kind, c, bodies, set)
	for i, body := range list {
		x.node(body, affine(x.affine, sum, sum, 1, uint32(i)+1, 1))
	}
	s, exec := x.stream(), x.instantiate(x.graph)
	for _, v := range values {
		require.NoError(b.t, b.Write(value, words(1, constant(v))))
		require.NoError(b.t, b.Write(sum, words(1, constant(0))))
		require.NoError(b.t, b.LaunchGraph(exec, s))
		require.NoError(b.t, b.Synchronize(s))
		added = append(added, x.word(sum))
	}
	return added
}

func conditionalIf(t *testing.T, b *bench) {
	assert.Equal(t, []uint32{0, 1, 1, 0}, b.chosen(device.If, 1, 0, 1, math.MaxUint32, 0))
}

func conditionalElse(t *testing.T, b *bench) {
	assert.Equal(t, []uint32{2, 1, 1, 2}, b.chosen(device.If, 2, 0, 1, 5, 0))
}

func conditionalSwitch(t *testing.T, b *bench) {
	assert.Equal(t, []uint32{1, 3, 2, 0, 0}, b.chosen(device.Switch, 3, 0, 2, 1, 3, math.MaxUint32))
}

// counting builds a loop that computes x = 3x + 1 while a counter counts down to 0.
func (x *loop) counting(count, v device.Ptr) (loop, body device.Graph, node, step device.Node) {
	c := x.condition(1)
	node, list := x.conditional(x.graph, device.While, c, 1)
	step = x.node(list[0], affine(x.affine, v, v, 3, 1, 1))
	x.node(list[0], x.counts(c, count), step)
	return x.graph, list[0], node, step
}

func tripled(v uint32, times int) uint32 {
	for range times {
		v = 3*v + 1
	}
	return v
}

func conditionalWhile(t *testing.T, b *bench) {
	x := b.loop()
	count, v := x.buffer(words(1, constant(11))), x.buffer(words(1, constant(5)))
	x.counting(count, v)
	x.run()
	assert.Equal(t, tripled(5, 11), x.word(v))
	assert.Zero(t, x.word(count))
}

// A condition keeps its value between iterations and is reset to its initial value by the next launch.
func conditionalKept(t *testing.T, b *bench) {
	x := b.loop()
	count, v := x.alloc(4), x.buffer(words(1, constant(5)))
	c := x.condition(1)
	_, list := x.conditional(x.graph, device.While, c, 1)
	step := x.node(list[0], affine(x.affine, v, v, 3, 1, 1))
	x.node(list[0], one(x.stop, "stop", c, count), step)
	s, exec := x.stream(), x.instantiate(x.graph)
	for range 2 {
		require.NoError(t, b.Write(count, words(1, constant(7))))
		require.NoError(t, b.LaunchGraph(exec, s))
		require.NoError(t, b.Synchronize(s))
	}
	assert.Equal(t, tripled(5, 14), x.word(v))
}

func conditionalSum(t *testing.T, b *bench) {
	const n, limit = 256, 1.0 / 3
	x := b.loop()
	c := x.condition(1)
	start := make([]float32, n)
	for i := range start {
		start[i] = float32(i % 16) // sums stay exact
	}
	v, sum := x.buffer(binaryOf(start)), x.alloc(4)
	_, list := x.conditional(x.graph, device.While, c, 1)
	work := one(x.halve, "halve", c, v, sum, float32(limit))
	work.Block.X = n
	x.node(list[0], work)
	x.run()
	want, halvings := float32(n*15/2), 0
	for ; want >= limit; halvings++ {
		want /= 2
	}
	assert.Equal(t, math.Float32bits(want), x.word(sum), "after %d halvings", halvings)
}

func binaryOf(v []float32) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

func conditionalNever(t *testing.T, b *bench) {
	x := b.loop()
	v := x.buffer(words(1, constant(5)))
	_, list := x.conditional(x.graph, device.While, x.condition(0), 1)
	x.node(list[0], affine(x.affine, v, v, 0, 0, 1))
	x.run()
	assert.Equal(t, uint32(5), x.word(v))
}

// An if in a while in a while: the inner loop counts to the outer one's counter, and
// adds one where its own is odd.
func conditionalNested(t *testing.T, b *bench) {
	x := b.loop()
	outer, inner, odd := x.condition(1), x.condition(1), x.condition(0)
	n, k, sum, parity := x.buffer(words(1, constant(6))), x.alloc(4), x.alloc(4), x.alloc(4)
	require.NoError(t, x.Write(sum, words(1, constant(0))))
	_, list := x.conditional(x.graph, device.While, outer, 1)
	body := list[0]
	begin := x.node(body, affine(x.affine, k, n, 1, 0, 1))
	again := x.node(body, x.chooses(inner, n), begin)
	loop, list := x.conditional(body, device.While, inner, 1, again)
	x.node(body, x.counts(outer, n), loop)

	body = list[0]
	half := x.node(body, affine(x.affine, parity, k, 1<<31, 0, 1)) // not 0 if k is odd
	set := x.node(body, x.chooses(odd, parity), half)
	decide, list := x.conditional(body, device.If, odd, 1, set)
	x.node(body, x.counts(inner, k), decide)
	x.node(list[0], affine(x.affine, sum, sum, 1, 1, 1))
	x.run()
	want := uint32(0)
	for i := range uint32(7) {
		want += (i + 1) / 2 // number of odd values from 1 to i
	}
	assert.Equal(t, want, x.word(sum))
}

func conditionalAgain(t *testing.T, b *bench) {
	x := b.loop()
	count, v := x.alloc(4), x.buffer(words(1, constant(1)))
	c := x.condition(1)
	fill := x.node(x.graph, &device.Memset{Dst: count, Value: 4, Width: 4, Count: 1})
	_, list := x.conditional(x.graph, device.While, c, 1, fill)
	step := x.node(list[0], affine(x.affine, v, v, 3, 1, 1))
	x.node(list[0], x.counts(c, count), step)
	s, other, exec := x.stream(), x.stream(), x.instantiate(x.graph)
	for range 2 {
		require.NoError(t, x.LaunchGraph(exec, s))
		require.NoError(t, x.LaunchGraph(exec, other))
	}
	require.NoError(t, x.SynchronizeAll())
	assert.Equal(t, tripled(1, 16), x.word(v))
}

// After the loop there are a node of the same graph, work of the same stream, and an event that another stream waits
// for.
func conditionalFollowed(t *testing.T, b *bench) {
	x := b.loop()
	count, v := x.buffer(words(1, constant(9))), x.buffer(words(1, constant(2)))
	inGraph, inStream, elsewhere := x.alloc(4), x.alloc(4), x.alloc(4)
	_, _, node, _ := x.counting(count, v)
	x.node(x.graph, affine(x.affine, inGraph, v, 1, 0, 1), node)
	s, other, e, exec := x.stream(), x.stream(), x.event(), x.instantiate(x.graph)
	require.NoError(t, x.LaunchGraph(exec, s))
	require.NoError(t, x.Record(e, s))
	x.submit(s, affine(x.affine, inStream, v, 1, 0, 1))
	require.NoError(t, x.Wait(other, e))
	x.submit(other, affine(x.affine, elsewhere, v, 1, 0, 1))
	require.NoError(t, x.SynchronizeAll())
	for _, p := range []device.Ptr{inGraph, inStream, elsewhere} {
		assert.Equal(t, tripled(2, 9), x.word(p))
	}
}

func conditionalKinds(t *testing.T, b *bench) {
	x := b.loop()
	c := x.condition(1)
	p, q, count := x.alloc(4*n), x.alloc(4*n), x.buffer(words(1, constant(3)))
	_, list := x.conditional(x.graph, device.While, c, 1)
	body := list[0]
	set := x.node(body, &device.Memset{Dst: p, Value: 6, Width: 4, Count: n})
	run := x.node(body, affine(x.affine, p, p, 7, 0, n), set)
	pass := x.node(body, device.Nothing{}, run)
	out := x.node(body, &device.Copy{Dst: q, Src: p, Bytes: 4 * n}, pass)
	x.node(body, x.counts(c, count), out)
	_, err := x.AddNode(body, nil, &device.HostCall{Func: func() error { return nil }})
	refused(t, err, "AddNode", device.NotSupported)
	x.run()
	assert.Equal(t, words(n, constant(42)), x.read(q, 4*n))
	assert.Zero(t, x.word(count))
}

func conditionalUpdate(t *testing.T, b *bench) {
	x := b.loop()
	c := x.condition(1)
	count, v := x.alloc(4), x.buffer(words(1, constant(1)))
	fill := x.node(x.graph, &device.Memset{Dst: count, Value: 4, Width: 4, Count: 1})
	node, list := x.conditional(x.graph, device.While, c, 1, fill)
	step := x.node(list[0], affine(x.affine, v, v, 3, 1, 1))
	x.node(list[0], x.counts(c, count), step)
	s, exec := x.stream(), x.instantiate(x.graph)
	require.NoError(t, x.LaunchGraph(exec, s))
	require.NoError(t, x.UpdateBodyNode(exec, list[0], step, affine(x.affine, v, v, 1, 100, 1)))
	require.NoError(t, x.LaunchGraph(exec, s))
	require.NoError(t, x.Synchronize(s))
	assert.Equal(t, tripled(1, 4)+400, x.word(v), "the launch under way kept its parameters")

	refused(t, x.UpdateBodyNode(exec, list[0], step, device.Nothing{}), "UpdateBodyNode", device.GraphUpdateForbidden)
	refused(t, x.UpdateBodyNode(exec, list[0], step+5, device.Nothing{}), "UpdateBodyNode", device.InvalidHandle)
	refused(t, x.UpdateNode(exec, node, device.Nothing{}), "UpdateNode", device.GraphUpdateForbidden)
	other := x.instantiate(x.bench.graph())
	refused(t, x.UpdateBodyNode(other, list[0], step, affine(x.affine, v, v, 1, 1, 1)), "UpdateBodyNode", device.InvalidValue)
}

func conditionalOutlived(t *testing.T, b *bench) {
	x := b.loop()
	g, err := x.CreateGraph()
	require.NoError(t, err)
	x.graph = g
	count, v := x.buffer(words(1, constant(3))), x.buffer(words(1, constant(0)))
	_, body, _, _ := x.counting(count, v)
	exec := x.instantiate(g)
	require.NoError(t, x.DestroyGraph(g))
	refused(t, x.DestroyGraph(body), "DestroyGraph", device.InvalidHandle)
	s := x.stream()
	require.NoError(t, x.LaunchGraph(exec, s))
	require.NoError(t, x.Synchronize(s))
	assert.Equal(t, tripled(0, 3), x.word(v))
}

func conditionalErrors(t *testing.T, b *bench) {
	x := b.loop()
	c := x.condition(0)
	for _, bad := range []device.Conditional{
		{Kind: device.If, Bodies: 0}, {Kind: device.If, Bodies: 3}, {Kind: device.While, Bodies: 2},
		{Kind: device.Switch, Bodies: 0}, {Kind: device.Switch, Bodies: -1}, {Kind: 9, Bodies: 1},
	} {
		bad.Condition = c
		_, _, err := x.AddConditional(x.graph, nil, bad)
		refused(t, err, "AddConditional", device.InvalidValue)
	}
	good := device.Conditional{Kind: device.If, Condition: c, Bodies: 1}
	_, err := x.Instantiate(x.graph)
	refused(t, err, "Instantiate", device.InvalidValue) // no node reads the condition
	_, _, err = x.AddConditional(x.graph, []device.Node{9}, good)
	refused(t, err, "AddConditional", device.InvalidHandle)
	_, _, err = x.AddConditional(x.bench.graph(), nil, good)
	refused(t, err, "AddConditional", device.InvalidValue)
	_, _, err = x.AddConditional(x.graph, nil, device.Conditional{Kind: device.If, Condition: c + 1, Bodies: 1})
	refused(t, err, "AddConditional", device.InvalidHandle)
	_, list := x.conditional(x.graph, device.If, c, 1)
	_, err = x.Instantiate(list[0])
	refused(t, err, "Instantiate", device.InvalidValue)
	refused(t, x.DestroyGraph(list[0]), "DestroyGraph", device.InvalidValue)
	_, err = x.CreateCondition(x.graph+1000, 0)
	refused(t, err, "CreateCondition", device.InvalidHandle)
	x.instantiate(x.graph)
}
