package devicetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var errorBehaviours = []behaviour{
	{"errors/handles never created", badHandles},
	{"errors/handles destroyed twice", doubleDestroy},
	{"errors/handles used after they are destroyed", useAfterDestroy},
	{"errors/memory freed twice", doubleFree},
	{"errors/addresses inside an allocation cannot be freed", freeInside},
	{"errors/more memory than there is", outOfMemory},
	{"errors/copies out of range", copyOutOfRange},
	{"errors/launch extents", launchExtents},
	{"errors/other malformed work", malformedWork},
	{"errors/functions go with their module", functionsOfUnloaded},
	{"errors/unknown kernel", unknownKernel},
	{"errors/unknown variable", unknownVariable},
	{"errors/parameter block of the wrong size", wrongParams},
	{"errors/invalid PTX is refused", invalidPTX},
	{"errors/invalid PTX names the place", invalidPTXPlace},
	{"errors/closed device", closed},
}

// badHandles makes every call with the zero handle and with a handle that was never created.
func badHandles(t *testing.T, b *bench) {
	for _, h := range []uint64{0, 0xBAD} {
		s, e, g, x := b.stream(), b.event(), b.graph(), b.instantiate(b.graph())
		m, f := device.Module(h), device.Function(h)
		badS, badE, badG, badX, badL := device.Stream(h), device.Event(h), device.Graph(h), device.GraphExec(h), device.CommandList(h)
		launch := &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1}, Block: device.Dim3{X: 1, Y: 1, Z: 1}}
		for call, err := range map[string][]error{
			"UnloadModule":       {b.UnloadModule(m)},
			"Function":           {second(b.Function(m, "affine"))},
			"Global":             {third(b.Global(m, "table"))},
			"DestroyStream":      {b.DestroyStream(badS)},
			"Submit":             {b.Submit(badS, device.Nothing{}), b.Submit(s, launch)},
			"Synchronize":        {b.Synchronize(badS)},
			"DestroyEvent":       {b.DestroyEvent(badE)},
			"Record":             {b.Record(badE, s), b.Record(e, badS)},
			"Wait":               {b.Wait(s, badE), b.Wait(badS, e)},
			"Elapsed":            {second(b.Elapsed(badE, e)), second(b.Elapsed(e, badE))},
			"DestroyGraph":       {b.DestroyGraph(badG)},
			"AddNode":            {second(b.AddNode(badG, nil, device.Nothing{})), second(b.AddNode(g, nil, launch))},
			"Instantiate":        {second(b.Instantiate(badG))},
			"UpdateNode":         {b.UpdateNode(badX, 1, device.Nothing{})},
			"UpdateNodes":        {b.UpdateNodes(badX, []device.NodeWork{{Node: 1, Work: device.Nothing{}}})},
			"LaunchGraph":        {b.LaunchGraph(badX, s), b.LaunchGraph(x, badS)},
			"DestroyGraphExec":   {b.DestroyGraphExec(badX)},
			"UpdateCommand":      {b.UpdateCommand(badL, 0, device.Nothing{})},
			"SubmitCommands":     {b.SubmitCommands(badL, 0, 1)},
			"DestroyCommandList": {b.DestroyCommandList(badL)},
		} {
			for _, err := range err {
				refused(t, err, call, device.InvalidHandle)
			}
		}
		assert.NoError(t, b.SynchronizeAll(), "a refused call has no effect")
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func doubleDestroy(t *testing.T, b *bench) {
	s, err := b.CreateStream(0)
	require.NoError(t, err)
	e, err := b.CreateEvent()
	require.NoError(t, err)
	g, err := b.CreateGraph()
	require.NoError(t, err)
	x, err := b.Instantiate(g)
	require.NoError(t, err)
	l, err := b.CompileCommands(nil)
	require.NoError(t, err)
	m, err := b.LoadModule("kernels.ptx", kernels)
	require.NoError(t, err)
	for call, destroy := range map[string]func() error{
		"DestroyStream":      func() error { return b.DestroyStream(s) },
		"DestroyEvent":       func() error { return b.DestroyEvent(e) },
		"DestroyGraph":       func() error { return b.DestroyGraph(g) },
		"DestroyGraphExec":   func() error { return b.DestroyGraphExec(x) },
		"DestroyCommandList": func() error { return b.DestroyCommandList(l) },
		"UnloadModule":       func() error { return b.UnloadModule(m) },
	} {
		assert.NoError(t, destroy())
		refused(t, destroy(), call, device.InvalidHandle)
	}
}

func useAfterDestroy(t *testing.T, b *bench) {
	s, err := b.CreateStream(0)
	require.NoError(t, err)
	e, err := b.CreateEvent()
	require.NoError(t, err)
	live := b.stream()
	b.submit(s, device.Nothing{})
	require.NoError(t, b.Record(e, s))
	require.NoError(t, b.DestroyStream(s), "with work under way")
	require.NoError(t, b.Wait(live, e), "the record outlives its stream")
	refused(t, b.Submit(s, device.Nothing{}), "Submit", device.InvalidHandle)
	require.NoError(t, b.DestroyEvent(e))
	refused(t, b.Wait(live, e), "Wait", device.InvalidHandle)
	assert.NoError(t, b.Synchronize(live))
	again, err := b.CreateStream(0)
	require.NoError(t, err)
	assert.NotEqual(t, s, again, "a handle is not given out again")
	assert.NoError(t, b.DestroyStream(again))
}

func doubleFree(t *testing.T, b *bench) {
	p, err := b.Alloc(100)
	require.NoError(t, err)
	h, _, err := b.AllocHost(100)
	require.NoError(t, err)
	require.NoError(t, b.Free(p))
	require.NoError(t, b.Free(h))
	refused(t, b.Free(p), "Free", device.InvalidValue)
	refused(t, b.Free(h), "Free", device.InvalidValue)
	refused(t, b.Free(0), "Free", device.InvalidValue)
}

func freeInside(t *testing.T, b *bench) {
	p := b.alloc(1000)
	refused(t, b.Free(p+256), "Free", device.InvalidValue)
	assert.Len(t, b.read(p, 1000), 1000, "it is still there")
}

func outOfMemory(t *testing.T, b *bench) {
	_, err := b.Alloc(1 << 60)
	refused(t, err, "Alloc", device.OutOfMemory)
	_, err = b.Alloc(-1)
	refused(t, err, "Alloc", device.InvalidValue)
	_, _, err = b.AllocHost(1 << 60)
	refused(t, err, "AllocHost", device.OutOfMemory)
	_, _, err = b.AllocHost(-1)
	refused(t, err, "AllocHost", device.InvalidValue)
	b.alloc(100)
}

func copyOutOfRange(t *testing.T, b *bench) {
	s, p := b.stream(), b.alloc(100)
	h, _ := b.allocHost(100)
	for _, c := range []device.Copy{
		{Dst: p, Src: h, Bytes: 101},
		{Dst: p + 50, Src: h, Bytes: 51},
		{Dst: h, Src: p + 50, Bytes: 51},
		{Dst: h + 1, Src: p, Bytes: 100},
		{Dst: 0, Src: p, Bytes: 1},
		{Dst: p, Src: 0x10, Bytes: 1},
	} {
		refused(t, b.Submit(s, &c), "Submit", device.InvalidValue)
	}
	refused(t, b.Submit(s, &device.Memset{Dst: p, Width: 4, Count: 26}), "Submit", device.InvalidValue)
	refused(t, b.Write(p+1, make([]byte, 100)), "Write", device.InvalidValue)
	refused(t, b.Read(make([]byte, 101), p), "Read", device.InvalidValue)
	assert.NoError(t, b.Synchronize(s))
}

func launchExtents(t *testing.T, b *bench) {
	s, g, p := b.stream(), b.graph(), b.buffer(words(1, constant(0)))
	good := affine(b.function("affine"), p, p, 1, 0, 1)
	for _, dims := range [][2]device.Dim3{
		{{X: 0, Y: 1, Z: 1}, {X: 1, Y: 1, Z: 1}},
		{{X: 1, Y: 0, Z: 1}, {X: 1, Y: 1, Z: 1}},
		{{X: 1, Y: 1, Z: 1}, {X: 1, Y: 1, Z: 0}},
		{{X: 1, Y: 1, Z: 1}, {X: 1025, Y: 1, Z: 1}},
		{{X: 1, Y: 1, Z: 1}, {X: 32, Y: 33, Z: 1}},
		{{X: 1, Y: 1, Z: 1}, {X: 1, Y: 1, Z: 65}},
		{{X: 1, Y: 65536, Z: 1}, {X: 1, Y: 1, Z: 1}},
		{{X: 1 << 31, Y: 1, Z: 1}, {X: 1, Y: 1, Z: 1}},
	} {
		l := *good
		l.Grid, l.Block = dims[0], dims[1]
		refused(t, b.Submit(s, &l), "Submit", device.InvalidValue)
		_, err := b.AddNode(g, nil, &l)
		refused(t, err, "AddNode", device.InvalidValue)
	}
	l := *good
	l.Shared = 1 << 30
	refused(t, b.Submit(s, &l), "Submit", device.InvalidValue)
	b.submit(s, good)
	assert.NoError(t, b.Synchronize(s))
}

func malformedWork(t *testing.T, b *bench) {
	s, p := b.stream(), b.alloc(16)
	for _, w := range []device.Work{
		nil,
		(*device.Launch)(nil),
		&device.HostCall{Label: "without a function"},
		&device.Copy{Dst: p, Src: p, Bytes: -1},
		&device.Memset{Dst: p, Width: 3, Count: 1},
		&device.Memset{Dst: p, Width: 0, Count: 1},
		&device.Memset{Dst: p, Width: 1, Count: -1},
		&device.Memset{Dst: p, Width: 4, Count: 1 << 62},
		&device.Memset{Dst: p + 2, Width: 4, Count: 1},
	} {
		refused(t, b.Submit(s, w), "Submit", device.InvalidValue)
	}
	assert.NoError(t, b.Synchronize(s))
}

func functionsOfUnloaded(t *testing.T, b *bench) {
	m, err := b.LoadModule("kernels.ptx", kernels)
	require.NoError(t, err)
	f, err := b.Function(m, "affine")
	require.NoError(t, err)
	require.NoError(t, b.UnloadModule(m))
	p := b.alloc(4)
	refused(t, b.Submit(b.stream(), affine(f, p, p, 1, 0, 1)), "Submit", device.InvalidHandle)
	_, err = b.Function(m, "affine")
	refused(t, err, "Function", device.InvalidHandle)
	_, _, err = b.Global(m, "table")
	refused(t, err, "Global", device.InvalidHandle)
}

func unknownKernel(t *testing.T, b *bench) {
	_, err := b.Function(b.module(), "affin")
	refused(t, err, "Function", device.NotFound)
	assert.ErrorContains(t, err, "affin", "the error names the kernel")
}

func unknownVariable(t *testing.T, b *bench) {
	for _, name := range []string{"tabel", "affine", ""} { // "affine" is a kernel, not a variable
		_, _, err := b.Global(b.module(), name)
		refused(t, err, "Global", device.NotFound)
		assert.ErrorContains(t, err, name, "the error names the variable")
	}
}

func wrongParams(t *testing.T, b *bench) {
	p := b.alloc(4)
	l := affine(b.function("affine"), p, p, 1, 0, 1)
	l.Params = l.Params[:20]
	refused(t, b.Submit(b.stream(), l), "Submit", device.InvalidValue)
}

const broken = `.version 7.8
.target sm_75
.address_size 64
.visible .entry k()
{
	bogus.u32 %r1, %r2;
	ret;
}
`

func invalidPTX(t *testing.T, b *bench) {
	for _, text := range []string{"", "hello", broken, kernels[:strings.LastIndex(kernels, "}")]} {
		_, err := b.LoadModule("broken.ptx", text)
		refused(t, err, "LoadModule", device.InvalidPTX)
	}
	b.module()
}

func invalidPTXPlace(t *testing.T, b *bench) {
	_, err := b.LoadModule("broken.ptx", broken)
	refused(t, err, "LoadModule", device.InvalidPTX)
	assert.Regexp(t, `broken\.ptx:6:(\d+:)? `, err.Error(), "ptxas reports no column")
}

func closed(t *testing.T, b *bench) {
	s := b.stream()
	b.alloc(100)
	b.submit(s, device.Nothing{})
	b.undo, b.closed = nil, true
	require.NoError(t, b.Close(), "frees whatever is left")
	refused(t, b.Synchronize(s), "Synchronize", device.Deinitialized)
	refused(t, b.Close(), "Close", device.Deinitialized)
	_, err := b.Alloc(1)
	refused(t, err, "Alloc", device.Deinitialized)
	_, err = b.CreateStream(0)
	refused(t, err, "CreateStream", device.Deinitialized)
}
