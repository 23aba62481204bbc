package graphexec_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

var (
	programs = flag.Int("programs", 60, "random programs that TestRandomPrograms replays")
	first    = flag.Uint64("first", 0, "number of the first of them")
)

// TestRandomPrograms replays longer programs than TestAnyScheduleLeavesTheBytesOfTheProgram does, and more of them, each under one
// random combination of a strategy, its parameter and passes. `make random` runs 20 000.
func TestRandomPrograms(t *testing.T) {
	const replays = 3
	count := *programs
	if testing.Short() {
		count /= 6
	}
	for seed := *first; seed < *first+uint64(count); seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		p := program{
			seed: seed, ops: 1 + r.IntN(60), buffers: 1 + r.IntN(8),
			scratch: r.IntN(2) == 0, managed: r.IntN(3) == 0, moving: r.IntN(6) == 0,
		}
		strategy, also := randomStrategy(r), randomPasses(r)
		what := fmt.Sprintf("program %d of %d operations, strategy %s, passes %v", seed, p.ops, strategy, also)
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		want := p.plain(t, dev, replays)
		x := p.start(t, dev, tracer.Deferred)
		x.calls()
		trace, err := x.tr.Finish()
		require.NoError(t, err, what)
		for _, form := range graphexec.Backends() {
			plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: strategy, Also: also, Streams: form == graphexec.Streams, Verify: true})
			require.NoError(t, err, what)
			exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
			if p.managed && form == graphexec.Graph && err != nil {
				require.ErrorContains(t, err, "prefetch", what)
				continue
			}
			require.NoError(t, err, what)
			x.fill()
			require.NoError(t, replayed(exec, replays, seed), what)
			require.Equal(t, want, x.contents(), "%s, %v", what, form)
			require.NoError(t, exec.Close())
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// randomStrategy returns a strategy, with a number of lanes half of the time. Those that search take ten times as long as all
// else here, and are one in fifty.
func randomStrategy(r *rand.Rand) string {
	searches := func(s optimizer.Description) bool { return s.Name == "search" || s.Name == "auto" }
	all := optimizer.Strategies()
	s := all[r.IntN(len(all))]
	for searches(s) && r.IntN(8) > 0 {
		s = all[r.IntN(len(all))]
	}
	if s.Name == "search" {
		return "search(100)"
	}
	if s.Takes == "k" && r.IntN(2) == 0 {
		return fmt.Sprintf("%s(%d)", s.Name, 1+r.IntN(8))
	}
	return s.Name
}

// randomPasses returns passes that leave every byte that a program can see.
func randomPasses(r *rand.Rand) (also []string) {
	for _, pass := range []string{"copyelim", "dce", "merge", "coarsen", "prefetch", "group", "priorities", "memplan"} {
		if r.IntN(4) == 0 {
			also = append(also, pass)
		}
	}
	return also
}
