package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestLoopsThatCannotBeRecordedAreRefused makes each mistake in a trace of its own.
func TestLoopsThatCannotBeRecordedAreRefused(t *testing.T) {
	square, found := kernels.Lookup("square")
	require.True(t, found)
	type program struct {
		*tracer.Tracer
		x tracer.Buffer
		k *tracer.Kernel
	}
	once := tracer.Limits{Iterations: 1}
	for want, record := range map[string]func(p program){
		"the function with the body":    func(p program) { p.Loop(p.x.Slice(0, 1), ir.Below, 1, once, nil) },
		"name the bytes of one element": func(p program) { p.Branch(p.x, ir.Below, 1, func() {}, nil) },
		"runs at most 0 iterations": func(p program) {
			p.Loop(p.x.Slice(0, 1), ir.Below, 1, tracer.Limits{}, func() { p.Memset(p.x, uint32(0)) })
		},
		"which its body does not write": func(p program) { p.Loop(p.x.Slice(0, 1), ir.Below, 1, once, func() {}) },
		"comparison(0) is none of":      func(p program) { p.Loop(p.x.Slice(0, 1), 0, 1, once, func() { p.Memset(p.x, uint32(0)) }) },
		`control_test.go:35: trace refused: the host call "f" is in the body of a branch, which the device runs without the host: move it out of the body`: func(p program) {
			p.Branch(p.x.Slice(0, 1), ir.Below, 1, func() {
				p.HostCall("f", func() error { return nil })
			}, nil)
		},
		"control_test.go:42: trace refused: a prefetch of @m is in the body of a loop, which": func(p program) {
			m := p.AllocManaged("m", ir.F32, 4, ir.InOut)
			p.Loop(p.x.Slice(0, 1), ir.Below, 1, once, func() {
				p.Memset(p.x, uint32(0))
				p.Prefetch(m, true)
			})
		},
		"control_test.go:48: trace refused: kernel opaque in the body of a branch may touch memory that no parameter leads to: launch it outside": func(p program) {
			k := p.Module("opaque.ptx", opaqueKernel).Kernel("opaque")
			p.Branch(p.x.Slice(0, 1), ir.Below, 1, func() {
				p.Launch(k, tracer.Linear(1, 1), p.x)
			}, nil)
		},
		"branch: ": func(p program) { p.Branch(tracer.Buffer{}, ir.Below, 1, func() {}, nil) },
		"loop: ":   func(p program) { p.Loop(tracer.Buffer{}, ir.Below, 1, once, func() {}) },
	} {
		tr := tracer.New(null.New(), "refused", tracer.Deferred)
		p := program{Tracer: tr, x: tr.Alloc("x", ir.F32, 4, ir.InOut), k: tr.Module("square.ptx", square.PTX).Kernel("square")}
		record(p)
		_, err := tr.Finish()
		assert.ErrorContains(t, err, want)
	}
	eager := tracer.New(null.New(), "eager", tracer.Eager)
	x := eager.Alloc("x", ir.F32, 1, ir.InOut)
	eager.Loop(x, ir.Below, 1, once, func() {})
	_, err := eager.Finish()
	assert.ErrorContains(t, err, "loop: it can only be recorded: begin the tracer with reprise.Record, or in mode Deferred")
	var none *tracer.Tracer
	none.Loop(x, ir.Below, 1, once, nil)
	none.Branch(x, ir.Below, 1, nil, nil)
}

// TestRecordedLoopsAreGraphsOfTheirOwn checks the operations that calls inside and outside of bodies become.
func TestRecordedLoopsAreGraphsOfTheirOwn(t *testing.T) {
	tr := tracer.New(null.New(), "recorded", tracer.Deferred)
	x := tr.Alloc("x", ir.F32, 4, ir.InOut)
	tr.Memset(x, uint32(0))
	tr.Loop(x.Slice(1, 2), ir.AtMost, 0.5, tracer.Limits{Iterations: 9}, func() {
		tr.Memset(x.Slice(0, 2), uint32(1))
		late := tr.Alloc("late", ir.F32, 2, ir.InOut)
		tr.Branch(late.Slice(0, 1), ir.Equal, 1, func() { tr.Copy(late, x.Slice(2, 4)) }, func() {})
	})
	trace, err := tr.Finish()
	require.NoError(t, err)
	g := trace.Graph
	for i := range g.Ops {
		g.Ops[i].Pos = nil
	}
	body := g.Ops[1].Control.Bodies[0]
	body.Ops[0].Pos, body.Ops[1].Pos = nil, nil
	body.Ops[1].Control.Bodies[0].Ops[0].Pos = nil
	assert.Equal(t, `graph recorded {
  buffer @x f32[4] device(0) inout
  buffer @late f32[2] device(0) inout
  %0 = memset @x u32=0
  %1 = loop until @x[4:8] atmost 0.5 max(9) {
    %0 = memset @x[0:8] u32=1065353216
    %1 = branch if @late[0:4] equal 1 {
      %0 = copy @x[8:16] -> @late
    } else {
    }
  }
}
`, ir.Print(g))
	require.NoError(t, trace.Close())
}

// opaqueKernel stores to an address that it loads.
const opaqueKernel = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry opaque(.param .u64 p)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	ld.global.u64 %rd2, [%rd1];
	mov.u32 %r1, 0;
	st.global.u32 [%rd2], %r1;
	ret;
}
`
