//go:build cuda && cgo

package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
	"github.com/reprise-gpu/reprise/verify"
)

// mixed has out[i] = f(a[i], b[i]) + 1, for the thread i of one block, where f has 3000 steps x = 3*x + b[i] from x = a[i]: a launch
// takes longer than the host's call.
const mixed = `.version 7.0
.target sm_50
.address_size 64
.visible .entry mix(.param .u64 out, .param .u64 a, .param .u64 b) {
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	.reg .pred %p<1>;
	ld.param.u64 %d0, [out];
	ld.param.u64 %d1, [a];
	ld.param.u64 %d2, [b];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d3, %r0, 4;
	add.s64 %d4, %d0, %d3;
	add.s64 %d5, %d1, %d3;
	add.s64 %d6, %d2, %d3;
	ld.global.u32 %r1, [%d5];
	ld.global.u32 %r2, [%d6];
	mov.u32 %r5, 3000;
again:
	mad.lo.u32 %r1, %r1, 3, %r2;
	sub.u32 %r5, %r5, 1;
	setp.ne.u32 %p0, %r5, 0;
	@%p0 bra again;
	add.u32 %r4, %r1, 1;
	st.global.u32 [%d4], %r4;
	ret;
}
`

// mixes records a chain, p = f(a, b), x = f(p, b), y = f(x, b), z, v and w, and behind it s = f(w, a) beside t = f(w, b). On three
// lanes in turn, an operation of the chain that does not wait begins before the one that it reads from.
func mixes(t *testing.T, d *gpuDevice) *tracer.Trace {
	const elements = 256
	tr := tracer.New(d, "mixes", tracer.Deferred)
	k := tr.Module("mix.ptx", mixed).Kernel("mix")
	all := map[string]tracer.Buffer{}
	for _, name := range []string{"a", "b", "p", "x", "y", "z", "v", "w", "s", "t"} {
		all[name] = tr.Alloc(name, ir.U32, elements, ir.InOut)
	}
	for _, l := range []string{"pab", "xpb", "yxb", "zyb", "vzb", "wvb", "swa", "twb"} {
		tr.Launch(k, tracer.Linear(1, elements), all[l[:1]], all[l[1:2]], all[l[2:]])
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, trace.Close()) })
	data := make([]uint32, elements)
	for _, name := range []string{"a", "b", "p", "x", "y", "z", "v", "w", "s", "t"} {
		for i := range data {
			data[i] = 2654435761*data[i] + uint32(i) + uint32(name[0])
		}
		require.NoError(t, tracer.Write(all[name], data))
	}
	return trace
}

// TestBisectNamesPlantedMistakes plans a program wrongly and compares it with serial execution, both through the driver. The
// operation with the mistake must be named, and no operation of a right plan.
func TestBisectNamesPlantedMistakes(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, on which operations without an order may run in the right one")
	}
	d := open(t)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	trace := mixes(t, d)
	planned := func(o optimizer.Options) *ir.Schedule {
		plan, err := optimizer.Plan(trace.Graph, o)
		require.NoError(t, err)
		return plan.Schedule
	}
	right, merged := planned(optimizer.Options{Strategy: "roundrobin(3)"}), planned(optimizer.Options{Strategy: "nimble", Also: []string{"merge"}})
	for _, c := range []struct {
		mistake string
		plan    *ir.Schedule
		want    string // the start of the name of the operation
	}{
		{"none", right, ""},
		{"none, merged", merged, ""},
		{"no wait for x", unordered(t, right, 2), "%2 "},
		{"no wait for y", unordered(t, right, 3), "%3 "},
		{"no wait for v", unordered(t, right, 5), "%5 "},
		{"another factor", recoded(t, merged, "mad.lo.u32 %r1, %r1, 3, %r2", "mad.lo.u32 %r1, %r1, 5, %r2"), "%6 "},
		{"another operand", recoded(t, merged, "[rw_1_b]", "[rw_0_b]"), "%7 "},
	} {
		for _, form := range graphexec.Backends() {
			found, err := verify.Bisect(t.Context(), d, trace, c.plan, form)
			require.NoError(t, err, "%s, %v", c.mistake, form)
			switch {
			case c.want == "":
				assert.Nil(t, found, "%s, %v", c.mistake, form)
			case assert.NotNil(t, found, "%s, %v", c.mistake, form):
				assert.True(t, strings.HasPrefix(found.Operation, c.want), "%s, %v: %v", c.mistake, form, found)
			}
		}
	}
}

// unordered returns a schedule in which v waits for no other lane.
func unordered(t *testing.T, s *ir.Schedule, v ir.OpID) *ir.Schedule {
	require.NotEmpty(t, s.Waits[v])
	wrong := *s
	var err error
	wrong.Graph, err = s.Graph.WithDeps(ir.Analyzed, nil, nil) // they would require the wait
	require.NoError(t, err)
	wrong.Waits = slices.Clone(s.Waits)
	wrong.Waits[v] = nil
	return &wrong
}

// recoded returns a schedule with other code in its merged launch.
func recoded(t *testing.T, s *ir.Schedule, right, wrong string) *ir.Schedule {
	g, with := *s.Graph, *s
	with.Graph, g.Modules = &g, slices.Clone(g.Modules)
	for v := range g.Ops {
		if g.Merged[ir.OpID(v)] == nil {
			continue
		}
		code := &g.Modules[g.Ops[v].Launch.Module].Source
		require.Contains(t, *code, right)
		*code = strings.Replace(*code, right, wrong, 1)
		return &with
	}
	require.Fail(t, "nothing is merged")
	return nil
}
