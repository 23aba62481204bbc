package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// header begins the PTX of the kernels, which have one block of threads and access element i in thread i.
const header = `.version 7.0
.target sm_50
.address_size 64
`

// mix has out[i] = 3*a[i] + b[i] + 1.
const mix = header + `
.visible .entry mix(.param .u64 out, .param .u64 a, .param .u64 b) {
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
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
	mad.lo.u32 %r3, %r1, 3, %r2;
	add.u32 %r4, %r3, 1;
	st.global.u32 [%d4], %r4;
	ret;
}
`

const elements = 256

// recorded returns a trace whose buffers have random contents.
func recorded(t *testing.T, r *rand.Rand, build func(tr *reprise.Tracer) []reprise.Buffer) (reprise.Device, *reprise.Trace) {
	dev, err := reprise.Open("sim")
	require.NoError(t, err)
	tr := reprise.Record(dev, "planted")
	buffers := build(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, trace.Close()); assert.NoError(t, dev.Close()) })
	for _, b := range buffers {
		data := make([]uint32, elements)
		for i := range data {
			data[i] = r.Uint32()
		}
		require.NoError(t, reprise.Write(b, data))
	}
	return dev, trace
}

// randomMixes returns a trace of launches of mix. With few buffers, many launches overwrite what others have read.
func randomMixes(t *testing.T, r *rand.Rand, buffers int) (reprise.Device, *reprise.Trace) {
	return recorded(t, r, func(tr *reprise.Tracer) (all []reprise.Buffer) {
		kernel := tr.Module("mix.ptx", mix).Kernel("mix")
		for i := range buffers {
			all = append(all, tr.Alloc(fmt.Sprintf("b%d", i), reprise.U32, elements, reprise.InOut))
		}
		for range 14 {
			p := r.Perm(buffers)
			tr.Launch(kernel, reprise.Linear(1, elements), all[p[0]], all[p[1]], all[p[2]])
		}
		return all
	})
}

// TestBisectNamesPlantedWrongSchedules drops one dependency of a plan and its wait. If the result of the plan then differs on
// the simulated device, Bisect must name an operation whose result a race affects: if there is one race, the one that reads.
func TestBisectNamesPlantedWrongSchedules(t *testing.T) {
	named, alone := 0, 0
	for seed := uint64(0); named < 20 || alone < 5; seed++ {
		require.Less(t, seed, uint64(200), "%d and %d results differ", named, alone)
		r := rand.New(rand.NewPCG(seed, 3))
		dev, trace := randomMixes(t, r, 5+int(seed%4)*4)
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "levels"})
		require.NoError(t, err)
		form := graphexec.Backends()[seed%2]
		d, err := verify.Bisect(context.Background(), dev, trace, plan.Schedule, form)
		require.NoError(t, err)
		require.Nil(t, d, "the plan is right")
		for v := range plan.Schedule.Waits {
			for _, u := range plan.Schedule.Waits[v] {
				s := withoutWait(t, plan.Schedule, edge{u, ir.OpID(v)})
				affected := affectedBy(newOracle(s, form, edge{-1, -1}))
				d, err = verify.Bisect(context.Background(), dev, trace, s, form)
				require.NoError(t, err)
				if d == nil {
					continue
				}
				named++
				if len(affected) == 1 {
					alone++
				}
				assert.Contains(t, affected, numberOf(d), "seed %d: %v", seed, d)
			}
		}
	}
}

// withoutWait returns a schedule without one of its waits, and without the dependencies, which would require it.
func withoutWait(t *testing.T, s *ir.Schedule, e edge) *ir.Schedule {
	wrong := *s
	var err error
	wrong.Graph, err = s.Graph.WithDeps(ir.Analyzed, nil, nil)
	require.NoError(t, err)
	wrong.Waits = slices.Clone(s.Waits)
	wrong.Waits[e.to] = slices.DeleteFunc(slices.Clone(s.Waits[e.to]), func(u ir.OpID) bool { return u == e.from })
	return &wrong
}

// affectedBy returns the operations whose results a race within a replay may change: the one that reads, or both if none
// does.
func affectedBy(o *oracle) (ops []string) {
	add := func(v ir.OpID) {
		if name := v.String(); !slices.Contains(ops, name) {
			ops = append(ops, name)
		}
	}
	g := o.s.Graph
	for _, p := range o.races() {
		u, v := p[0], p[1]
		if int(v) >= g.Len() {
			continue
		}
		second, first := reads(g, v, g.Ops[u].Uses), reads(g, u, g.Ops[v].Uses)
		if second || !first {
			add(v)
		}
		if first || !second {
			add(u)
		}
	}
	return ops
}

// reads reports whether an operation reads bytes that the accesses write.
func reads(g *ir.Graph, v ir.OpID, writes []ir.Access) bool {
	return slices.ContainsFunc(writes, func(w ir.Access) bool {
		return w.Mode.Writes() && slices.ContainsFunc(g.Ops[v].Uses, func(a ir.Access) bool { return a.Mode.Reads() && a.Overlaps(w.Range) })
	})
}

// numberOf returns the number in the name of an operation, as in "%3".
func numberOf(d *verify.Difference) string { return d.Operation[:strings.Index(d.Operation, " ")] }

// TestBisectNamesPlantedWrongKernels changes the code of kernels that a pass has written: each is two launches of the trace
// in one. The last kernel depends on the time, and not only on its operands.
func TestBisectNamesPlantedWrongKernels(t *testing.T) {
	dev, trace := randomMixes(t, rand.New(rand.NewPCG(9, 9)), 5)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "nimble", Also: []string{"merge"}})
	require.NoError(t, err)
	for _, c := range []struct {
		name, right, wrong string
		member             int // of the merged launch, the one that computes something else
	}{
		{"factor", "mad.lo.u32 %r3, %r1, 3, %r2", "mad.lo.u32 %r3, %r1, 5, %r2", 0},
		{"term", "add.u32 %r4, %r3, 1", "add.u32 %r4, %r3, 2", 0},
		{"operand", "[rw_1_a]", "[rw_0_a]", 1},
		{"blocks", "%rw_ctaid_z_1, 1;", "%rw_ctaid_z_1, 2;", 1},
		{"clock", "ld.global.u32 %r1, [%d5]", "mov.u64 %d5, %globaltimer; cvt.u32.u64 %r1, %d5", 0},
	} {
		s, want := rewritten(t, plan.Schedule, c.right, c.wrong, c.member)
		for _, form := range graphexec.Backends() {
			d, err := verify.Bisect(context.Background(), dev, trace, s, form)
			require.NoError(t, err)
			if assert.NotNil(t, d, "%s, %v", c.name, form) {
				assert.Equal(t, want.String(), numberOf(d), "%s, %v: %v", c.name, form, d)
			}
		}
	}
}

// rewritten returns a schedule with other code in its first merged launch, and a member of this launch.
func rewritten(t *testing.T, s *ir.Schedule, right, wrong string, member int) (*ir.Schedule, ir.OpID) {
	g, with := *s.Graph, *s
	with.Graph = &g
	for v := range g.Ops {
		merged := g.Merged[ir.OpID(v)]
		if merged == nil {
			continue
		}
		g.Modules = slices.Clone(g.Modules)
		code := &g.Modules[g.Ops[v].Launch.Module].Source
		require.Contains(t, *code, right)
		*code = strings.Replace(*code, right, wrong, 1)
		return &with, merged[member].Op
	}
	require.Fail(t, "nothing is merged")
	return nil, 0
}
