package tracer_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

func load(t testing.TB, tr *tracer.Tracer, name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	require.True(t, ok, name)
	return tr.Module(k.File, k.PTX).Kernel(name)
}

// body prints the operations of a trace without their positions.
func body(g *ir.Graph) string {
	bare := *g
	bare.Ops = append([]ir.Op(nil), g.Ops...)
	for i := range bare.Ops {
		bare.Ops[i].Pos = nil
	}
	return ir.Print(&bare)
}

func TestATraceHoldsWhatTheProgramDid(t *testing.T) {
	tr := tracer.New(null.New(), "vec", tracer.Deferred)
	square, reduce := load(t, tr, "square"), load(t, tr, "reduce")
	x := tr.Alloc("x", ir.F32, 1024, ir.Input)
	y := tr.Alloc("y", ir.F32, 1024, ir.Temporary)
	res := tr.Alloc("res", ir.F32, 1, ir.InOut)
	host := tr.AllocHost("host", ir.F32, 1, ir.Output)
	n := tr.Param("n", ir.I32, 512)
	tr.Memset(res, 0)
	tr.Launch(square, tracer.Linear(4, 128), x, y, 1024)
	tr.Launch(reduce, withShared(tracer.Linear(2, 64), 16), x.Slice(512, 1024), y.Slice(0, 512), res, n)
	tr.Copy(host, res)
	tr.HostCall("print", func() error { return nil }, tracer.Use{Buffer: host, Mode: ir.Read})
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, `graph vec {
  module square "square.ptx"
  module reduce "reduce.ptx"
  param $n i32 = 512
  buffer @x f32[1024] device(0) input
  buffer @y f32[1024] device(0) temporary
  buffer @res f32[1] device(0) inout
  buffer @host f32[1] pinned output
  %0 = memset @res u32=0
  %1 = launch square.square grid(4) block(128) args(@x, @y, i32=1024) uses(read @x, write @y)
  %2 = launch reduce.reduce grid(2) block(64) shared(16) args(@x+2048, @y, @res, $n) uses(read @x[2048:4096], read @y[0:2048], readwrite @res)
  %3 = copy @res -> @host
  %4 = host "print" uses(read @host)
}
`, body(trace.Graph))
	require.NoError(t, trace.Close())
}

func TestPositionsNameTheCallingLine(t *testing.T) {
	tr := tracer.New(null.New(), "pos", tracer.Deferred)
	b := tr.Alloc("b", ir.U8, 4, ir.InOut)
	tr.Memset(b, 1)
	for range 2 {
		tr.Memset(b, 2)
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	ops := trace.Graph.Ops
	assert.Equal(t, "tracer/tracer_test.go", ops[0].Pos.File)
	assert.Equal(t, ops[0].Pos.Line+2, ops[1].Pos.Line)
	assert.Equal(t, ops[1].Pos, ops[2].Pos)
}

func TestEagerRunsWhatItRecords(t *testing.T) {
	var log strings.Builder
	tr := tracer.New(wrap.Logging(null.New(), &log), "eager", tracer.Eager)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 32, ir.Input)
	y := tr.Alloc("y", ir.F32, 32, ir.Output)
	log.Reset()
	tr.Memset(x, float32(1))
	tr.Launch(square, tracer.Linear(1, 32), x, y, 32)
	tr.Copy(x, y)
	_, err := tr.Finish()
	require.NoError(t, err)
	var calls []string
	for line := range strings.Lines(log.String()) {
		name, _, _ := strings.Cut(line, "(")
		calls = append(calls, name)
	}
	assert.Equal(t, []string{"Submit", "Submit", "Submit", "Synchronize", "DestroyStream"}, calls)
	assert.Contains(t, log.String(), "value 1065353216") // 1.0f
}

// TestMistakesAreNamed makes one mistake in each case. It is the only error of the program and has the line
// of the mistake.
func TestMistakesAreNamed(t *testing.T) {
	other := tracer.New(null.New(), "other", tracer.Deferred)
	foreign := other.Alloc("foreign", ir.F32, 8, ir.Input)
	foreignKernel := load(t, other, "square")
	for _, c := range []struct {
		name, want string
		do         func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer)
	}{
		{"argument count", "launch of square: 2 arguments for 3 parameters: the kernel takes a pointer, a pointer, u32", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), x, y)
		}},
		{"another value of a parameter", "parameter $a is declared as f32=0.5, and again as f32=0.25: use another name, or change the value between replays with Set", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			assert.Equal(t, tr.Param("a", ir.F32, 0.5), tr.Param("a", ir.F32, 0.5))
			tr.Param("a", ir.F32, 0.25)
		}},
		{"another type of a parameter", "parameter $a is declared as f32=1, and again as f64=1: use another name, or change the value between replays with Set", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Param("a", ir.F32, 1)
			tr.Param("a", ir.F64, 1)
		}},
		{"number for a pointer", "launch of square: argument 0 (square_param_0): 7 (int) is passed for a pointer: pass a Buffer", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), 7, y, 8)
		}},
		{"buffer for a number", "launch of square: argument 2 (square_param_2): @x is passed for u32: pass a Go number or a Param", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), x, y, x)
		}},
		{"fraction for an integer", "launch of square: argument 2 (square_param_2): 0.5 (float64) is not an integer for u32: pass one", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), x, y, 0.5)
		}},
		{"float parameter for an integer", "launch of square: argument 2 (square_param_2): parameter $a is f32, the kernel takes u32", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), x, y, tr.Param("a", ir.F32, 1))
		}},
		{"empty grid", "launch of square: grid (0,1,1) and block (32,1,1): every extent is at least 1", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(0, 32), x, y, 8)
		}},
		{"freed buffer", "launch of square: argument 0 (square_param_0): @x is used after it was freed", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Free(x)
			tr.Launch(square, tracer.Linear(1, 32), x, y, 8)
		}},
		{"double free", "@x is freed twice", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Free(x)
			tr.Free(x)
		}},
		{"another trace's buffer", "copy: @foreign belongs to another tracer, of trace other: pass a buffer of this one", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Copy(x, foreign)
		}},
		{"another trace's kernel", "launch of square: the kernel belongs to another tracer, of trace other: take it from a Module of this one", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(foreignKernel, tracer.Linear(1, 32), x, y, 8)
		}},
		{"zero buffer", "copy: a zero Buffer was passed: allocate it first", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Copy(x, tracer.Buffer{})
		}},
		{"slice out of range", "slice [4:9) of @x, which has 8 elements", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			x.Slice(4, 9)
		}},
		{"lengths of a copy", "copy of 16 bytes of @y to 32 bytes of @x: slice the longer one", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Copy(x, y.Slice(0, 4))
		}},
		{"overlapping copy", "copy between overlapping ranges of @x", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Copy(x.Slice(0, 4), x.Slice(3, 7))
		}},
		{"wide pattern", "memset of @d: a fill pattern has 1, 2 or 4 bytes, and f64 has 8: fill it with 0, or launch a kernel", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Memset(tr.Alloc("d", ir.F64, 4, ir.Input), 1)
		}},
		{"unknown kernel", "module square.ptx has no kernel \"cube\": it has square", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			k, _ := kernels.Lookup("square")
			tr.Module(k.File, k.PTX).Kernel("cube")
		}},
		{"host memory for a kernel", "launch of square: argument 0 (square_param_0): @host is host memory, which kernels cannot reach: copy it to the device first", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), tr.AllocHost("host", ir.F32, 8, ir.Input), y, 8)
		}},
		{"device memory for a host call", "host call look: @x is device memory, which the host cannot reach: copy it to pinned memory first", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.HostCall("look", func() error { return nil }, tracer.Use{Buffer: x})
		}},
		{"no host function", "host call look: the function is nil", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.HostCall("look", nil)
		}},
		{"another trace's parameter", "launch of square: argument 2 (square_param_2): the Param was not declared on this trace", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Param("one", ir.I32, 1)
			tr.Launch(square, tracer.Linear(1, 32), x, y, other.Param("two", ir.I32, 2))
		}},
		{"zero parameter", "launch of square: argument 2 (square_param_2): the Param was not declared on this trace", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Launch(square, tracer.Linear(1, 32), x, y, tracer.Param{})
		}},
		{"free of another trace's buffer", "free: @foreign belongs to another tracer, of trace other: pass a buffer of this one", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Free(foreign)
		}},
		{"free of a zero buffer", "free: a zero Buffer was passed: allocate it first", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Free(tracer.Buffer{})
		}},
		{"negative length", "buffer @z has -1 elements: the number cannot be negative", func(tr *tracer.Tracer, square *tracer.Kernel, x, y tracer.Buffer) {
			tr.Alloc("z", ir.F32, -1, ir.Input)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev := null.New()
			tr := tracer.New(dev, "bad", tracer.Deferred)
			square := load(t, tr, "square")
			x := tr.Alloc("x", ir.F32, 8, ir.Input)
			y := tr.Alloc("y", ir.F32, 8, ir.Output)
			require.NoError(t, tr.Err())
			c.do(tr, square, x, y)
			require.Error(t, tr.Err())
			assert.Regexp(t, `^tracer/tracer_test\.go:\d+: trace bad: `, tr.Err().Error())
			_, message, _ := strings.Cut(tr.Err().Error(), "trace bad: ")
			assert.Equal(t, c.want, message)

			first := tr.Err()
			tr.Memset(x, 0) // a later call changes nothing
			_, err := tr.Finish()
			assert.ErrorIs(t, err, first)
			assert.Zero(t, dev.Live(), "a failed trace frees everything")
		})
	}
}

// hidden has kernels with accesses that no parameter shows: chase stores through a pointer that it loads,
// and count increments a module-scope variable.
const hidden = `
.version 7.8
.target sm_75
.address_size 64
.global .u32 total;
.visible .entry chase(.param .u64 table)
{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [table];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u64 %rd3, [%rd2];
	st.global.u64 [%rd3], %rd1;
	ret;
}
.visible .entry count()
{
	.reg .b32 %r<2>;
	atom.global.add.u32 %r1, [total], 1;
	ret;
}
`

func TestHiddenEffectsOrderLaunches(t *testing.T) {
	tr := tracer.New(null.New(), "hidden", tracer.Deferred)
	m := tr.Module("hidden.ptx", hidden)
	table := tr.Alloc("table", ir.U64, 4, ir.Input)
	tr.Launch(m.Kernel("chase"), tracer.Linear(1, 1), table)
	tr.Launch(m.Kernel("count"), tracer.Linear(1, 1))
	tr.Launch(m.Kernel("count"), tracer.Linear(1, 1))
	late := tr.Alloc("late", ir.U64, 1, ir.Output)
	tr.Memset(late, 0)
	trace, err := tr.Finish()
	require.NoError(t, err)
	chase, count := trace.Graph.Ops[0].Uses, trace.Graph.Ops[1].Uses
	var touched []ir.BufferID
	for _, use := range chase {
		if use.Mode == ir.ReadWrite {
			touched = append(touched, use.Buffer)
		}
	}
	assert.Subset(t, touched, []ir.BufferID{table.ID(), late.ID()}, "whatever a pointer in the table may lead to")
	slices.Sort(touched)
	assert.Len(t, slices.Compact(slices.Clone(touched)), len(chase), "each buffer once")
	require.Len(t, count, 1)
	assert.Equal(t, "hidden.total", trace.Graph.Buffers[count[0].Buffer].Name)
	assert.Equal(t, ir.ReadWrite, count[0].Mode)
	assert.Equal(t, count, trace.Graph.Ops[2].Uses)
	file, err := ir.Parse("hidden.rir", string(ir.Format(trace.Graph, nil)))
	require.NoError(t, err)
	file.Graph.Trace = trace.Graph.Trace // which text does not have
	assert.Equal(t, trace.Graph, file.Graph)
}

// hop reaches its second buffer by adding the difference of the two to the
// first; at takes a byte offset of 64 bits.
const hop = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry hop(.param .u64 a, .param .u64 b)
{
	.reg .b64 %rd<7>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	cvta.to.global.u64 %rd3, %rd1;
	sub.s64 %rd4, %rd2, %rd1;
	add.s64 %rd5, %rd3, %rd4;
	st.global.u64 [%rd5], %rd1;
	ret;
}
.visible .entry at(.param .u64 a, .param .u64 offset)
{
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [offset];
	cvta.to.global.u64 %rd3, %rd1;
	add.s64 %rd4, %rd3, %rd2;
	st.global.u64 [%rd4], %rd1;
	ret;
}
`

func TestABufferPassedForANumberIsReached(t *testing.T) {
	tr := tracer.New(null.New(), "hop", tracer.Deferred)
	m := tr.Module("hop.ptx", hop)
	a, b := tr.Alloc("a", ir.U64, 4, ir.InOut), tr.Alloc("b", ir.U64, 4, ir.InOut)
	tr.Launch(m.Kernel("hop"), tracer.Linear(1, 1), a, b)
	tr.Launch(m.Kernel("at"), tracer.Linear(1, 1), a, 8)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, []ir.Access{
		{Range: ir.Range{Buffer: 0, Hi: 32}, Mode: ir.Write},
		{Range: ir.Range{Buffer: 1, Hi: 32}, Mode: ir.Write},
	}, trace.Graph.Ops[0].Uses)
	assert.Equal(t, []ir.Access{{Range: ir.Range{Buffer: 0, Lo: 8, Hi: 16}, Mode: ir.Write}}, trace.Graph.Ops[1].Uses)
}

func TestASignatureNamesAndWidens(t *testing.T) {
	k, _ := kernels.Lookup("reduce")
	tr := tracer.New(null.New(), "declared", tracer.Deferred)
	reduce := tr.Module(k.File, k.PTX).Kernel("reduce", "x: inout f32*, y: in f32*, z: reduce f32*, n: i32")
	x := tr.Alloc("x", ir.F32, 32, ir.Input)
	z := tr.Alloc("z", ir.F32, 1, ir.InOut)
	tr.Launch(reduce, tracer.Linear(1, 32), x, x, z, 32)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, []ir.Access{
		{Range: ir.Range{Buffer: 0, Hi: 128}, Mode: ir.ReadWrite},
		{Range: ir.Range{Buffer: 0, Hi: 128}, Mode: ir.Read},
		{Range: ir.Range{Buffer: 1, Hi: 4}, Mode: ir.Reduce},
	}, trace.Graph.Ops[0].Uses)
}

func TestASignatureThatClaimsTooLittleIsRefused(t *testing.T) {
	k, _ := kernels.Lookup("square")
	for signature, want := range map[string]string{
		"x: in f32*, y: in f32*, n: i32":   `kernel square stores through parameter y, which is declared as "y: in f32*"`,
		"x: out f32*, y: out f32*, n: i32": `kernel square loads through parameter x, which is declared as "x: out f32*"`,
		"x: in f32*, y: out f32*":          "the signature declares 2 parameters, kernel square has 3",
		"x: in f32*, y: out f32*, n: i64":  "is declared as 8 bytes, the kernel takes 4",
		"x: input f32*":                    "signature:1:4",
	} {
		tr := tracer.New(null.New(), "declared", tracer.Deferred)
		tr.Module(k.File, k.PTX).Kernel("square", signature)
		assert.ErrorContains(t, tr.Err(), want, signature)
	}
}

func TestAFinishedTraceStaysAsItIs(t *testing.T) {
	dev := null.New()
	tr := tracer.New(dev, "done", tracer.Deferred)
	x := tr.Alloc("x", ir.F32, 8, ir.InOut)
	tr.Memset(x, 0)
	trace, err := tr.Finish()
	require.NoError(t, err)
	before, live := body(trace.Graph), dev.Live()

	_, err = tr.Finish()
	assert.ErrorContains(t, err, "this trace is finished")
	tr.Memset(x, 1)
	tr.Param("late", ir.F32, 1)
	tr.Alloc("late", ir.F32, 1, ir.Input)
	assert.Equal(t, before, body(trace.Graph))
	assert.Equal(t, live, dev.Live())
	assert.NotZero(t, trace.Pointer(x.ID()))
	require.NoError(t, trace.Close())
	assert.Zero(t, dev.Live())
}

func TestAllocationFailureIsAnError(t *testing.T) {
	plain := null.New()
	dev := wrap.Faults(plain, wrap.FailCall(0, device.OutOfMemory))
	tr := tracer.New(dev, "full", tracer.Deferred)
	b := tr.Alloc("b", ir.F32, 8, ir.Input)
	tr.Memset(b.Slice(0, 0), 0)
	_, err := tr.Finish()
	assert.Equal(t, device.OutOfMemory, device.CodeOf(err))
	assert.ErrorContains(t, err, "buffer @b of 32 bytes")
}

func TestNamesAreMadeUnique(t *testing.T) {
	tr := tracer.New(null.New(), "names", tracer.Deferred)
	for _, name := range []string{"x", "x_2", "x", "x"} {
		tr.Alloc(name, ir.F32, 1, ir.Input)
	}
	k, _ := kernels.Lookup("square")
	assert.Same(t, tr.Module(k.File, k.PTX), tr.Module(k.File, k.PTX))
	tr.Module(k.File, k.PTX+"// changed\n")
	tr.Module("9-lives.ptx", k.PTX)
	trace, err := tr.Finish()
	require.NoError(t, err)
	var names []string
	for _, b := range trace.Graph.Buffers {
		names = append(names, b.Name)
	}
	assert.Equal(t, []string{"x", "x_2", "x_2_2", "x_3"}, names)
	names = names[:0]
	for _, m := range trace.Graph.Modules {
		names = append(names, m.Name+" "+m.File)
	}
	assert.Equal(t, []string{"square square.ptx", "square_2 square_2.ptx", "m9_lives 9-lives.ptx"}, names)
}

func TestZeroSizedBuffersMakeNoAccess(t *testing.T) {
	tr := tracer.New(null.New(), "zero", tracer.Eager)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 0, ir.Input)
	y := tr.Alloc("y", ir.F32, 0, ir.Output)
	tr.Launch(square, tracer.Linear(1, 32), x, y, 0)
	tr.Copy(y, x)
	tr.Memset(x, 0)
	require.NoError(t, tracer.Write(x, []float32{}))
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Empty(t, trace.Graph.Ops[0].Uses)
}

// both clears two buffers, and through is a helper of a helper.
func both(tr *tracer.Tracer, x, y tracer.Buffer) {
	tr.Helper()
	tr.Memset(x, 0)
	through(tr, y)
}

func through(tr *tracer.Tracer, x tracer.Buffer) {
	tr.Helper()
	tr.Memset(x, 0)
}

func TestHelpersAreNotPositions(t *testing.T) {
	tr := tracer.New(null.New(), "helpers", tracer.Deferred)
	x := tr.Alloc("x", ir.F32, 4, ir.Output)
	y := tr.Alloc("y", ir.F32, 4, ir.Output)
	_, _, line, _ := runtime.Caller(0)
	tr.Memset(x, 0)
	both(tr, x, y)
	func() { through(tr, x) }()
	trace, err := tr.Finish()
	require.NoError(t, err)
	var lines []int
	for _, op := range trace.Graph.Ops {
		lines = append(lines, op.Pos.Line-line)
	}
	assert.Equal(t, []int{1, 2, 2, 3}, lines)
	require.NoError(t, trace.Close())
}

// TestAnyFailedCallLeavesNothingBehind makes each device call of an eager trace fail in turn. Finish must
// return the error and free all memory.
func TestAnyFailedCallLeavesNothingBehind(t *testing.T) {
	for n := 0; ; n++ {
		plain := null.New()
		armed := wrap.FailCall(n, device.OutOfMemory)
		dev := wrap.Faults(plain, func(call int, method string) device.Code {
			return armed(call, method)
		})
		tr := tracer.New(dev, "faults", tracer.Eager)
		square := load(t, tr, "square")
		x := tr.Alloc("x", ir.F32, 32, ir.Input)
		y := tr.Alloc("y", ir.F32, 32, ir.Output)
		host := tr.AllocHost("host", ir.F32, 32, ir.Output)
		tr.Memset(x, 1)
		tr.Launch(square, tracer.Linear(1, 32), x, y, 32)
		tr.Copy(host, y)
		trace, err := tr.Finish()
		if err == nil {
			require.Greater(t, n, 8, "the trace made hardly a call")
			armed = func(int, string) device.Code { return 0 }
			require.NoError(t, trace.Close())
			require.Zero(t, plain.Live())
			return
		}
		require.Equal(t, device.OutOfMemory, device.CodeOf(err), "call %d", n)
		live := plain.Live()
		if strings.Contains(err.Error(), "DestroyStream") {
			live.Streams = 0 // the stream cannot be destroyed again
		}
		require.Zero(t, live, "after call %d failed", n)
	}
}

// BenchmarkLaunch traces programs of 100000 launches. The time of an operation includes the growth of the
// trace.
func BenchmarkLaunch(b *testing.B) {
	const launches = 100_000
	shape := tracer.Linear(4, 256)
	b.ReportAllocs()
	for b.Loop() {
		tr := tracer.New(null.New(), "bench", tracer.Deferred)
		square := load(b, tr, "square")
		x := tr.Alloc("x", ir.F32, 1024, ir.Input)
		y := tr.Alloc("y", ir.F32, 1024, ir.Output)
		for range launches {
			tr.Launch(square, shape, x, y, 1024)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/launches, "ns/launch")
}

// Equal launches are recorded once. Two launches are equal if all that they depend on is: each of these
// differs from the first or from the last in one property.
func TestRepeatedLaunchesAreShared(t *testing.T) {
	tr := tracer.New(null.New(), "repeats", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 2048, ir.Input)
	y := tr.Alloc("y", ir.F32, 1024, ir.Output)
	n := tr.Param("n", ir.I32, 512)
	shape := tracer.Linear(4, 256)
	launches := []func(){
		func() { tr.Launch(square, shape, x, y, 1024) },
		func() { tr.Launch(square, tracer.Linear(2, 256), x, y, 1024) },
		func() { tr.Launch(square, tracer.Linear(4, 128), x, y, 1024) },
		func() { tr.Launch(square, withShared(shape, 64), x, y, 1024) },
		func() { tr.Launch(square, shape, y, x, 1024) },
		func() { tr.Launch(square, shape, x.Slice(1, 2048), y, 1024) },
		func() { tr.Launch(square, shape, x.Slice(0, 512), y, n) },
		func() { tr.Launch(square, shape, x, y, 1000) },
		func() { tr.Launch(square, shape, x, y, uint32(1024)) },
		func() { tr.Launch(square, shape, x, y, n) },
	}
	for range 3 {
		for _, launch := range launches {
			launch()
		}
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	ops := trace.Graph.Ops
	for v := range ops {
		first := v % len(launches)
		require.Same(t, ops[first].Launch, ops[v].Launch)
		require.Equal(t, ops[first].Uses, ops[v].Uses)
		for u := range first {
			require.NotSame(t, ops[u].Launch, ops[v].Launch, "launches %d and %d", u, first)
		}
	}
	assert.Equal(t, int64(2048), ops[6].Uses[0].Hi, "the slice bounds what is read")
	assert.Equal(t, int64(4000), ops[7].Uses[0].Hi, "and so does n")
}

// A launch that was made before allocates nothing, not even its arguments.
func TestRepeatedLaunchesAllocateNothing(t *testing.T) {
	tr := tracer.New(null.New(), "allocations", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 2048, ir.Input)
	y := tr.Alloc("y", ir.F32, 1024, ir.Output)
	n := 0
	launch := func() {
		tr.Launch(square, tracer.Linear(4, 256), x.Slice(0, 1024), y, 1024-n%7)
		n++
	}
	assert.Zero(t, testing.AllocsPerRun(1000, launch), "but for lists that grow, now and then")
	require.NoError(t, tr.Err())
}

// A program without repetition is recorded correctly beyond maxRepeats, where the search for repetitions
// ends.
func TestManyDifferentLaunches(t *testing.T) {
	const launches = 70_000
	tr := tracer.New(null.New(), "many", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, launches, ir.Input)
	y := tr.Alloc("y", ir.F32, launches, ir.Output)
	for i := range int64(launches) {
		tr.Launch(square, tracer.Linear(1, 32), x.Slice(i, i+1), y.Slice(i, i+1), 1)
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	for i, op := range trace.Graph.Ops {
		require.Equal(t, int64(4*i), op.Launch.Args[0].Offset)
		require.Equal(t, ir.Range{Buffer: y.ID(), Lo: int64(4 * i), Hi: int64(4*i + 4)}, op.Uses[1].Range)
	}
}

// Finish names the invalid operation by its id in the program, though equal operations are verified once.
func TestAnErrorNamesTheFirstWrongOperation(t *testing.T) {
	tr := tracer.New(null.New(), "wrong", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 32, ir.Input)
	y := tr.Alloc("y", ir.F32, 32, ir.Output)
	c := tr.Alloc("c", ir.F32, 32, ir.Constant)
	for _, out := range []tracer.Buffer{y, y, y, c, y, c} {
		tr.Launch(square, tracer.Linear(1, 32), x, out, 32)
	}
	_, err := tr.Finish()
	var wrong *ir.Violation
	require.ErrorAs(t, err, &wrong)
	assert.ErrorContains(t, err, "%3 launch square at tracer/tracer_test.go:")
	assert.ErrorContains(t, err, "writes @c, which is constant")
}

func withShared(s tracer.Shape, bytes uint32) tracer.Shape {
	s.Shared = bytes
	return s
}
