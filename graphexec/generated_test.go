package graphexec_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// withGenerated returns a copy of a traced graph whose last launch runs a kernel of a generated module with this text.
func withGenerated(g *ir.Graph, source string) *ir.Graph {
	h := *g
	h.Modules = append(h.Modules[:len(h.Modules):len(h.Modules)], ir.Module{Name: "made", File: "made.ptx", Source: source})
	h.Generated = 1
	h.Ops = append([]ir.Op{}, g.Ops...)
	last := *h.Ops[len(h.Ops)-1].Launch
	last.Module = ir.ModuleID(len(h.Modules) - 1)
	h.Ops[len(h.Ops)-1].Launch = &last
	return &h
}

// A plan may launch kernels of modules that no trace has loaded. The Exec loads them and unloads them.
func TestGeneratedModulesAreLoaded(t *testing.T) {
	square, ok := kernels.Lookup("square")
	require.True(t, ok)
	doubling := strings.ReplaceAll(square.PTX, "mul.f32", "add.f32")
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		trace, _, out := relay(t, dev, tracer.Deferred, 1)
		live := dev.Live().Modules
		plan, err := optimizer.Plan(withGenerated(trace.Graph, doubling), optimizer.Options{})
		require.NoError(t, err)
		x, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
		require.NoError(t, err)
		require.Equal(t, live+1, dev.Live().Modules)
		require.NoError(t, x.Replay(context.Background()))
		got := make([]float32, out.Len())
		require.NoError(t, tracer.Read(got, out))
		require.EqualValues(t, 2, got[7], "1 squared, then doubled")
		require.NoError(t, x.Close())
		require.Equal(t, live, dev.Live().Modules)
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}

func TestGeneratedModulesThatFailLeaveNothing(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	trace, _, _ := relay(t, dev, tracer.Deferred, 1)
	live := dev.Live()
	sum, ok := kernels.Lookup("sum")
	require.True(t, ok)
	for source, want := range map[string]string{"no PTX": "generated module made", sum.PTX: "square"} {
		plan, err := optimizer.Plan(withGenerated(trace.Graph, source), optimizer.Options{Also: []string{"memplan"}})
		require.NoError(t, err)
		_, err = graphexec.Instantiate(dev, plan.Schedule, trace, graphexec.Graph)
		require.ErrorContains(t, err, want)
		require.Equal(t, live, dev.Live())
	}
}
