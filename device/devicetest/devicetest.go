// Package devicetest is the conformance suite of device.Device: every
// implementation runs the same behaviours. It checks results, orders and
// errors, but never real time.
package devicetest

import (
	_ "embed"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

//go:embed kernels.ptx
var kernels string

// behaviour is one requirement that every device must meet.
type behaviour struct {
	name string
	run  func(t *testing.T, b *bench)
}

var behaviours = slices.Concat(memoryBehaviours, launchBehaviours, orderBehaviours, contextBehaviours, graphBehaviours, conditionalBehaviours, managedBehaviours,
	commandBehaviours, errorBehaviours, faultBehaviours)

// Run runs every behaviour on a new device, which open returns and Run closes. The map unsupported has the behaviours
// that the implementation lacks, each with the reason. An unknown name fails the suite.
func Run(t *testing.T, open func() device.Device, unsupported map[string]string) {
	for name := range unsupported {
		assert.True(t, slices.ContainsFunc(behaviours, func(b behaviour) bool { return b.name == name }),
			"no behaviour is called %q", name)
	}
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			if why, ok := unsupported[b.name]; ok {
				t.Skip("unsupported: " + why)
			}
			d := open()
			w := &bench{Device: d, t: t}
			defer func() { // runs after failed tests, too: devices may share what a test left broken
				if !w.closed {
					assert.NoError(t, d.Close())
				}
			}()
			b.run(t, w)
			if !t.Failed() && !w.poisoned {
				w.clear()
			}
		})
	}
}

// Names returns the names of the behaviours, in the order in which they run.
func Names() []string {
	var names []string
	for _, b := range behaviours {
		names = append(names, b.name)
	}
	return names
}

// bench wraps a device and frees all allocations and handles after a behaviour, in reverse order. Its methods fail
// the test on an error. Behaviours that expect an error call the methods of the device itself.
type bench struct {
	device.Device
	t        *testing.T
	undo     []func() error
	poisoned bool // a fault happened: allocations cannot be freed one by one
	closed   bool
}

func (b *bench) later(f func() error) { b.undo = append(b.undo, f) }

// clear frees everything and checks that nothing is left.
func (b *bench) clear() {
	for _, f := range slices.Backward(b.undo) {
		assert.NoError(b.t, f())
	}
	if a, ok := b.Device.(device.Accounter); ok {
		assert.Zero(b.t, a.Live(), "left over after everything was freed")
	}
}

func (b *bench) alloc(bytes int64) device.Ptr {
	b.t.Helper()
	p, err := b.Alloc(bytes)
	require.NoError(b.t, err)
	b.later(func() error { return b.Free(p) })
	return p
}

func (b *bench) allocHost(bytes int64) (device.Ptr, []byte) {
	b.t.Helper()
	p, host, err := b.AllocHost(bytes)
	require.NoError(b.t, err)
	require.Len(b.t, host, int(bytes))
	b.later(func() error { return b.Free(p) })
	return p, host
}

// buffer returns device memory with the given content.
func (b *bench) buffer(bytes []byte) device.Ptr {
	b.t.Helper()
	p := b.alloc(int64(len(bytes)))
	require.NoError(b.t, b.Write(p, bytes))
	return p
}

func (b *bench) read(p device.Ptr, bytes int) []byte {
	b.t.Helper()
	out := make([]byte, bytes)
	require.NoError(b.t, b.Read(out, p))
	return out
}

func (b *bench) module() device.Module {
	b.t.Helper()
	m, err := b.LoadModule("kernels.ptx", kernels)
	require.NoError(b.t, err)
	b.later(func() error { return b.UnloadModule(m) })
	return m
}

func (b *bench) function(name string) device.Function {
	b.t.Helper()
	f, err := b.Function(b.module(), name)
	require.NoError(b.t, err)
	return f
}

func (b *bench) stream() device.Stream {
	b.t.Helper()
	s, err := b.CreateStream(0)
	require.NoError(b.t, err)
	b.later(func() error { return b.DestroyStream(s) })
	return s
}

func (b *bench) event() device.Event {
	b.t.Helper()
	e, err := b.CreateEvent()
	require.NoError(b.t, err)
	b.later(func() error { return b.DestroyEvent(e) })
	return e
}

func (b *bench) graph() device.Graph {
	b.t.Helper()
	g, err := b.CreateGraph()
	require.NoError(b.t, err)
	b.later(func() error { return b.DestroyGraph(g) })
	return g
}

func (b *bench) node(g device.Graph, w device.Work, deps ...device.Node) device.Node {
	b.t.Helper()
	n, err := b.AddNode(g, deps, w)
	require.NoError(b.t, err)
	return n
}

func (b *bench) instantiate(g device.Graph) device.GraphExec {
	b.t.Helper()
	x, err := b.Instantiate(g)
	require.NoError(b.t, err)
	b.later(func() error { return b.DestroyGraphExec(x) })
	return x
}

func (b *bench) compile(cs ...device.Command) device.CommandList {
	b.t.Helper()
	l, err := b.CompileCommands(cs)
	require.NoError(b.t, err)
	b.later(func() error { return b.DestroyCommandList(l) })
	return l
}

func (b *bench) submit(s device.Stream, work ...device.Work) {
	b.t.Helper()
	for _, w := range work {
		require.NoError(b.t, b.Submit(s, w))
	}
}

// affine returns a launch that computes dst[i] = a*src[i] + c for n words.
func affine(f device.Function, dst, src device.Ptr, a, c uint32, n int) *device.Launch {
	return &device.Launch{
		Function: f, Label: "affine",
		Grid: device.Dim3{X: uint32(n+63) / 64, Y: 1, Z: 1}, Block: device.Dim3{X: 64, Y: 1, Z: 1},
		Params: params(dst, src, a, c, uint32(n)),
	}
}

// refused requires an *Error with the given call and code, and that later calls are not affected.
func refused(t *testing.T, err error, call string, code device.Code) {
	t.Helper()
	var e *device.Error
	if assert.ErrorAs(t, err, &e, "%s must be refused", call) {
		assert.Equal(t, call, e.Call)
		assert.Equal(t, code, e.Code, "%v", err)
		assert.NotEmpty(t, e.Detail, "the error must say what exactly")
	}
}
