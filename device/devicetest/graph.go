package devicetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var graphBehaviours = []behaviour{
	{"graph/diamond", graphDiamond},
	{"graph/launched again without waiting", graphTwice},
	{"graph/launches of one instance do not overlap", graphTwoStreams},
	{"graph/is ordered with its stream", graphInStream},
	{"graph/empty", graphEmpty},
	{"graph/every kind of node", graphKinds},
	{"graph/update changes later launches only", graphUpdate},
	{"graph/instance outlives its graph", graphOutlived},
	{"graph/update of another kind is refused", graphUpdateKind},
	{"graph/nodes that do not exist are refused", graphBadNodes},
}

var commandBehaviours = []behaviour{
	{"graph/nodes updated together", graphUpdateTogether},
	{"graph/launches switched off and on", graphSwitched},
	{"commands/launches switched off and on", commandsSwitched},
	{"commands/streams and events", commandList},
	{"commands/submitted again without waiting", commandsTwice},
	{"commands/submitted in parts, going round", commandsRound},
	{"commands/run graph instances", commandsRunGraphs},
	{"commands/update changes later submissions only", commandUpdate},
	{"commands/bad ones are refused", commandErrors},
}

// diamond returns a graph of y = 2x+1, z = 3x+2, x = y + z. The value of x shows how often the graph ran.
func (b *bench) diamond() (g device.Graph, x device.Ptr, last device.Node) {
	m := b.module()
	f, err := b.Function(m, "affine")
	require.NoError(b.t, err)
	sum, err := b.Function(m, "add")
	require.NoError(b.t, err)
	x = b.buffer(words(n, index))
	y, z := b.alloc(4*n), b.alloc(4*n)
	g = b.graph()
	root := b.node(g, device.Nothing{})
	left := b.node(g, affine(f, y, x, 2, 1, n), root)
	right := b.node(g, affine(f, z, x, 3, 2, n), root)
	add := affine(sum, 0, 0, 0, 0, n)
	add.Params = params(x, y, z, uint32(n))
	return g, x, b.node(g, add, left, right)
}

func graphDiamond(t *testing.T, b *bench) {
	g, x, _ := b.diamond()
	s, exec := b.stream(), b.instantiate(g)
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 5*uint32(i) + 3 }), b.read(x, 4*n))
}

func graphTwice(t *testing.T, b *bench) {
	g, x, _ := b.diamond()
	s, exec := b.stream(), b.instantiate(g)
	for range 3 {
		require.NoError(t, b.LaunchGraph(exec, s))
	}
	require.NoError(t, b.Synchronize(s))
	want := func(i int) uint32 { return 5*(5*(5*uint32(i)+3)+3) + 3 }
	assert.Equal(t, words(n, want), b.read(x, 4*n))
}

// The chain is long enough for the second launch to arrive while the first runs. If steps of both runs interleaved,
// the result would differ.
func graphTwoStreams(t *testing.T, b *bench) {
	const steps = 20
	g, f, x := b.graph(), b.function("affine"), b.buffer(words(n, index))
	var last []device.Node
	for i := range uint32(steps) {
		last = []device.Node{b.node(g, affine(f, x, x, 3, i, n), last...)}
	}
	exec, s1, s2 := b.instantiate(g), b.stream(), b.stream()
	for range 2 {
		require.NoError(t, b.LaunchGraph(exec, s1))
		require.NoError(t, b.LaunchGraph(exec, s2))
	}
	require.NoError(t, b.SynchronizeAll())
	want := func(i int) uint32 {
		v := uint32(i)
		for k := range uint32(4 * steps) {
			v = 3*v + k%steps
		}
		return v
	}
	assert.Equal(t, words(n, want), b.read(x, 4*n))
}

func graphInStream(t *testing.T, b *bench) {
	g, x, _ := b.diamond()
	s, f, exec := b.stream(), b.function("affine"), b.instantiate(g)
	other, e := b.stream(), b.event()
	y := b.alloc(4 * n)
	b.submit(s, affine(f, x, x, 10, 0, n))
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Record(e, s))
	require.NoError(t, b.Wait(other, e))
	b.submit(other, affine(f, y, x, 1, 1, n))
	require.NoError(t, b.Synchronize(other))
	assert.Equal(t, words(n, func(i int) uint32 { return 50*uint32(i) + 4 }), b.read(y, 4*n))
}

func graphEmpty(t *testing.T, b *bench) {
	s, exec := b.stream(), b.instantiate(b.graph())
	require.NoError(t, b.LaunchGraph(exec, s))
	assert.NoError(t, b.Synchronize(s))
}

func graphKinds(t *testing.T, b *bench) {
	s, f, g := b.stream(), b.function("affine"), b.graph()
	p := b.alloc(4 * n)
	h, host := b.allocHost(4 * n)
	var seen []byte
	set := b.node(g, &device.Memset{Dst: p, Value: 6, Width: 4, Count: n})
	run := b.node(g, affine(f, p, p, 7, 0, n), set)
	out := b.node(g, &device.Copy{Dst: h, Src: p, Bytes: 4 * n}, run)
	call := b.node(g, &device.HostCall{Label: "look", Func: func() error { seen = append(seen, host[0]); return nil }}, out)
	b.node(g, device.Nothing{}, call)
	exec := b.instantiate(g)
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, []byte{42, 42}, seen)
	assert.Equal(t, words(n, constant(42)), host)
}

func graphUpdate(t *testing.T, b *bench) {
	s, f, g := b.stream(), b.function("affine"), b.graph()
	x := b.buffer(words(n, constant(1)))
	node := b.node(g, affine(f, x, x, 2, 0, n))
	exec := b.instantiate(g)
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.UpdateNode(exec, node, affine(f, x, x, 1, 10, n)))
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, constant(12)), b.read(x, 4*n), "(1*2)+10: the launch under way kept its parameters")
	again := b.instantiate(g)
	require.NoError(t, b.LaunchGraph(again, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, constant(24)), b.read(x, 4*n), "the graph itself is as it was")
}

func graphOutlived(t *testing.T, b *bench) {
	f, s := b.function("affine"), b.stream()
	x := b.buffer(words(n, constant(1)))
	g, err := b.CreateGraph()
	require.NoError(t, err)
	b.node(g, affine(f, x, x, 2, 1, n))
	exec := b.instantiate(g)
	require.NoError(t, b.DestroyGraph(g))
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, constant(3)), b.read(x, 4*n))
}

func graphUpdateKind(t *testing.T, b *bench) {
	g, p := b.graph(), b.alloc(16)
	node := b.node(g, &device.Memset{Dst: p, Width: 1, Count: 16})
	exec := b.instantiate(g)
	err := b.UpdateNode(exec, node, device.Nothing{})
	refused(t, err, "UpdateNode", device.GraphUpdateForbidden)
	assert.NoError(t, b.UpdateNode(exec, node, &device.Memset{Dst: p, Width: 1, Count: 8}))

	l := affine(b.function("affine"), p, p, 1, 0, 1)
	launches := b.graph()
	node = b.node(launches, l)
	exec = b.instantiate(launches)
	together := *l
	together.Cooperative = true
	refused(t, b.UpdateNode(exec, node, &together), "UpdateNode", device.GraphUpdateForbidden)
	assert.NoError(t, b.UpdateNode(exec, node, l))
}

// graphUpdateTogether updates two of three nodes in one call. A second call fails at the last of three nodes.
func graphUpdateTogether(t *testing.T, b *bench) {
	f, s := b.function("affine"), b.stream()
	x := b.buffer(words(n, index))
	g := b.graph()
	first := b.node(g, affine(f, x, x, 1, 1, n))
	second := b.node(g, affine(f, x, x, 2, 0, n), first)
	empty := b.node(g, device.Nothing{}, second)
	exec := b.instantiate(g)
	require.NoError(t, b.UpdateNodes(exec, nil))
	require.NoError(t, b.UpdateNodes(exec, []device.NodeWork{{Node: second, Work: affine(f, x, x, 3, 0, n)}, {Node: first, Work: affine(f, x, x, 1, 10, n)}}))
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 3 * (uint32(i) + 10) }), b.read(x, 4*n))

	err := b.UpdateNodes(exec, []device.NodeWork{{Node: first, Work: affine(f, x, x, 1, 0, n)}, {Node: empty, Work: affine(f, x, x, 1, 0, n)}, {Node: second, Work: affine(f, x, x, 7, 0, n)}})
	refused(t, err, "UpdateNodes", device.GraphUpdateForbidden)
	require.NoError(t, b.LaunchGraph(exec, s))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 9 * (uint32(i) + 10) }), b.read(x, 4*n), "the one before was changed, the one behind it was not")
}

// switched returns the launch with Off set as given.
func switched(l *device.Launch, off bool) *device.Launch {
	l.Off = off
	return l
}

func graphSwitched(t *testing.T, b *bench) {
	f, s := b.function("affine"), b.stream()
	x := b.buffer(words(n, index))
	g := b.graph()
	node := b.node(g, affine(f, x, x, 2, 0, n))
	b.node(g, affine(f, x, x, 1, 1, n), node)
	exec := b.instantiate(g)
	for _, off := range []bool{true, true, false} {
		require.NoError(t, b.UpdateNode(exec, node, switched(affine(f, x, x, 2, 0, n), off)))
		require.NoError(t, b.LaunchGraph(exec, s))
	}
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 2*(uint32(i)+2) + 1 }), b.read(x, 4*n))
	refused(t, b.UpdateNode(exec, node, device.Nothing{}), "UpdateNode", device.GraphUpdateForbidden)
}

func commandsSwitched(t *testing.T, b *bench) {
	f, s := b.function("affine"), b.stream()
	x := b.buffer(words(n, index))
	l := b.compile(
		device.Command{Kind: device.Run, Stream: s, Work: switched(affine(f, x, x, 2, 0, n), true)},
		device.Command{Kind: device.Run, Stream: s, Work: affine(f, x, x, 1, 1, n)},
	)
	require.NoError(t, b.SubmitCommands(l, 0, 2))
	require.NoError(t, b.UpdateCommand(l, 0, affine(f, x, x, 2, 0, n)))
	require.NoError(t, b.SubmitCommands(l, 0, 2))
	require.NoError(t, b.Synchronize(s))
	assert.Equal(t, words(n, func(i int) uint32 { return 2*(uint32(i)+1) + 1 }), b.read(x, 4*n))
}

func graphBadNodes(t *testing.T, b *bench) {
	g := b.graph()
	node := b.node(g, device.Nothing{})
	_, err := b.AddNode(g, []device.Node{node + 1}, device.Nothing{})
	refused(t, err, "AddNode", device.InvalidHandle)
	_, err = b.AddNode(g, []device.Node{0}, device.Nothing{})
	refused(t, err, "AddNode", device.InvalidHandle)
	exec := b.instantiate(g)
	refused(t, b.UpdateNode(exec, node+1, device.Nothing{}), "UpdateNode", device.InvalidHandle)
}

// diamondCommands is the number of commands of commandDiamond.
const diamondCommands = 8

// commandDiamond returns the diamond as commands for two streams. Command 4 is the second branch.
func (b *bench) commandDiamond() (l device.CommandList, x device.Ptr, branch int, other func(c uint32) device.Work) {
	m := b.module()
	f, err := b.Function(m, "affine")
	require.NoError(b.t, err)
	sum, err := b.Function(m, "add")
	require.NoError(b.t, err)
	x = b.buffer(words(n, index))
	y, z := b.alloc(4*n), b.alloc(4*n)
	s1, s2, fork, join := b.stream(), b.stream(), b.event(), b.event()
	add := affine(sum, 0, 0, 0, 0, n)
	add.Params = params(x, y, z, uint32(n))
	other = func(c uint32) device.Work { return affine(f, z, x, 3, c, n) }
	l = b.compile(
		device.Command{Kind: device.Run, Stream: s1, Work: device.Nothing{}},
		device.Command{Kind: device.Record, Stream: s1, Event: fork},
		device.Command{Kind: device.Await, Stream: s2, Event: fork},
		device.Command{Kind: device.Run, Stream: s1, Work: affine(f, y, x, 2, 1, n)},
		device.Command{Kind: device.Run, Stream: s2, Work: other(2)},
		device.Command{Kind: device.Record, Stream: s2, Event: join},
		device.Command{Kind: device.Await, Stream: s1, Event: join},
		device.Command{Kind: device.Run, Stream: s1, Work: add},
	)
	return l, x, 4, other
}

func commandList(t *testing.T, b *bench) {
	l, x, _, _ := b.commandDiamond()
	require.NoError(t, b.SubmitCommands(l, 0, diamondCommands))
	require.NoError(t, b.SynchronizeAll())
	assert.Equal(t, words(n, func(i int) uint32 { return 5*uint32(i) + 3 }), b.read(x, 4*n))
}

func commandsTwice(t *testing.T, b *bench) {
	l, x, _, _ := b.commandDiamond()
	for range 3 {
		require.NoError(t, b.SubmitCommands(l, 0, diamondCommands))
	}
	require.NoError(t, b.SynchronizeAll())
	want := func(i int) uint32 { return 5*(5*(5*uint32(i)+3)+3) + 3 }
	assert.Equal(t, words(n, want), b.read(x, 4*n))
}

// commandsRound submits one and a half replays, then the rest of the second, and then two at once.
func commandsRound(t *testing.T, b *bench) {
	l, x, _, _ := b.commandDiamond()
	half := diamondCommands / 2
	require.NoError(t, b.SubmitCommands(l, 0, diamondCommands+half))
	require.NoError(t, b.SubmitCommands(l, half, 0))
	require.NoError(t, b.SubmitCommands(l, half, diamondCommands-half))
	require.NoError(t, b.SubmitCommands(l, 0, 2*diamondCommands))
	require.NoError(t, b.SynchronizeAll())
	want := func(i int) uint32 { return 5*(5*(5*(5*uint32(i)+3)+3)+3) + 3 }
	assert.Equal(t, words(n, want), b.read(x, 4*n))
	for _, bad := range [][2]int{{-1, 1}, {diamondCommands, 1}, {0, -1}} {
		refused(t, b.SubmitCommands(l, bad[0], bad[1]), "SubmitCommands", device.InvalidValue)
	}
	refused(t, b.SubmitCommands(b.compile(), 0, 1), "SubmitCommands", device.InvalidValue)
}

// commandsRunGraphs puts a graph between two launches, and uses the list after the graph was destroyed.
func commandsRunGraphs(t *testing.T, b *bench) {
	f, s := b.function("affine"), b.stream()
	x := b.buffer(words(n, index))
	g := b.graph()
	b.node(g, affine(f, x, x, 1, 10, n))
	exec, err := b.Instantiate(g)
	require.NoError(t, err)
	l := b.compile(
		device.Command{Kind: device.Run, Stream: s, Work: affine(f, x, x, 2, 0, n)},
		device.Command{Kind: device.RunGraph, Stream: s, Exec: exec},
		device.Command{Kind: device.Run, Stream: s, Work: affine(f, x, x, 3, 0, n)},
	)
	require.NoError(t, b.SubmitCommands(l, 0, 6))
	require.NoError(t, b.Synchronize(s))
	want := func(i int) uint32 { return 3 * (2*(3*(2*uint32(i)+10)) + 10) }
	assert.Equal(t, words(n, want), b.read(x, 4*n))
	refused(t, b.UpdateCommand(l, 1, device.Nothing{}), "UpdateCommand", device.InvalidValue)
	require.NoError(t, b.DestroyGraphExec(exec))
	refused(t, b.SubmitCommands(l, 0, 3), "SubmitCommands", device.InvalidHandle)
	_, err = b.CompileCommands([]device.Command{{Kind: device.RunGraph, Stream: s, Exec: exec}})
	refused(t, err, "CompileCommands", device.InvalidHandle)
}

func commandUpdate(t *testing.T, b *bench) {
	l, x, branch, other := b.commandDiamond()
	require.NoError(t, b.SubmitCommands(l, 0, diamondCommands))
	require.NoError(t, b.UpdateCommand(l, branch, other(100)))
	require.NoError(t, b.SubmitCommands(l, 0, diamondCommands))
	require.NoError(t, b.SynchronizeAll())
	want := func(i int) uint32 { return 5*(5*uint32(i)+3) + 101 }
	assert.Equal(t, words(n, want), b.read(x, 4*n))
}

func commandErrors(t *testing.T, b *bench) {
	s, e := b.stream(), b.event()
	for _, bad := range []device.Command{
		{Kind: device.Run, Stream: s + 1, Work: device.Nothing{}},
		{Kind: device.Record, Stream: s, Event: e + 1},
		{Kind: device.Await, Stream: s},
	} {
		_, err := b.CompileCommands([]device.Command{bad})
		refused(t, err, "CompileCommands", device.InvalidHandle)
	}
	_, err := b.CompileCommands([]device.Command{{Kind: device.Run, Stream: s}})
	refused(t, err, "CompileCommands", device.InvalidValue)
	_, err = b.CompileCommands([]device.Command{{Kind: 77, Stream: s}})
	refused(t, err, "CompileCommands", device.InvalidValue)
	l := b.compile(device.Command{Kind: device.Run, Stream: s, Work: device.Nothing{}},
		device.Command{Kind: device.Record, Stream: s, Event: e})
	refused(t, b.UpdateCommand(l, 1, device.Nothing{}), "UpdateCommand", device.InvalidValue)
	refused(t, b.UpdateCommand(l, 2, device.Nothing{}), "UpdateCommand", device.InvalidValue)
	refused(t, b.UpdateCommand(l, 0, &device.Memset{Dst: b.alloc(4), Width: 1}), "UpdateCommand", device.GraphUpdateForbidden)
}
