package verify_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// plan returns a schedule of a program without any of its dependencies and waits, over two lanes in turns. Package ir
// accepts it, because the graph declares that it has no dependencies.
func plan(t *testing.T, text string) *ir.Schedule {
	f, err := ir.Load("wrong.rir", text)
	require.NoError(t, err)
	g := f.Graph
	s := &ir.Schedule{Lanes: min(2, g.Len()), Waits: make([][]ir.OpID, g.Len()), Strategy: "wrong"}
	none, err := g.WithDeps(ir.Analyzed, nil, nil)
	require.NoError(t, err)
	s.Graph = none
	for v := range g.Ops {
		s.Order, s.Lane = append(s.Order, ir.OpID(v)), append(s.Lane, ir.LaneID(v%2))
	}
	return s
}

func racesOf(t *testing.T, s *ir.Schedule, form graphexec.Backend) string {
	proof, err := verify.Check(s, form)
	require.NoError(t, err)
	races := ""
	for _, race := range proof.Races {
		races += race.String()
	}
	return races
}

func TestRacesHaveAWitness(t *testing.T) {
	const want = `copy:y#1 at a.go:4 writes @y[0:1024], which memset:y#2 at a.go:6 writes: nothing orders them
  an execution in which they overlap:
    memset:x at a.go:3
    copy:y#2 at a.go:5
    copy:y#1 at a.go:4, and at the same time memset:y#2 at a.go:6
`
	s := plan(t, `graph wrong {
  buffer @x f32[1024] device(0) inout
  buffer @y f32[1024] device(0) inout
  %0 = memset @x u32=1 at("a.go":3)
  %1 = copy @x[0:1024] -> @y[0:1024] at("a.go":4)
  %2 = copy @x[1024:2048] -> @y[1024:2048] at("a.go":5)
  %3 = memset @y[2048:4096] u32=2 at("a.go":6)
  %4 = memset @y[0:2048] u32=2 at("a.go":6)
}`)
	s.Waits[1] = []ir.OpID{0}
	for _, form := range graphexec.Backends() {
		assert.Equal(t, want, racesOf(t, s, form))
	}
}

// TestWaitsInBodies omits the edges in the body of a loop. Kernels read the scalars of the loop and of the branch in it.
func TestWaitsInBodies(t *testing.T) {
	f, err := ir.Load("loop.rir", `graph loop {
  buffer @x f32[4] device(0) inout
  buffer @r f32[1] device(0) inout
  %0 = loop until @r[0:4] below 1 max(9) {
    %0 = memset @x u32=1
    %1 = copy @x[0:4] -> @r[0:4]
    %2 = branch if @r[0:4] below 2 {
      %0 = memset @x[0:4] u32=2
      %1 = copy @x[0:4] -> @r[0:4]
    }
  }
}`)
	require.NoError(t, err)
	p, err := optimizer.Plan(f.Graph, optimizer.Options{})
	require.NoError(t, err)
	for _, form := range graphexec.Backends() {
		waits, err := verify.Necessary(p.Schedule, form)
		require.NoError(t, err)
		text := ""
		for _, w := range waits {
			require.NotNil(t, w.Without, "%+v", w)
			text += fmt.Sprintf("%s -> %s: %s @%s of %s and %s\n", w.From, w.To, w.Without.Hazard, w.Without.Buffer, w.Without.First, w.Without.Second)
		}
		assert.Equal(t, `loop/memset:x -> loop/copy:r: raw @x of loop/memset:x and loop/copy:r
loop/copy:r -> loop/branch: raw @r of loop/copy:r and loop/branch
loop/branch -> loop/branch: raw @r of loop/branch and loop/branch
loop/branch/memset:x -> loop/branch/copy:r: raw @x of loop/branch/memset:x and loop/branch/copy:r
loop/branch -> loop: raw @r of loop/branch and loop
`, text)
	}
}
