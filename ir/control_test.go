package ir_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// controlled returns a graph with loops and branches, and a schedule of it.
func controlled(seed uint64) (*ir.Graph, *ir.Schedule) {
	r := rand.New(rand.NewPCG(seed, 21))
	g := irtest.Analyze(irtest.Controlled(r, 1+r.IntN(10), 1+r.IntN(3)))
	return g, irtest.Schedule(r, g, 3)
}

func TestParseInvertsPrintOfLoopsAndBranches(t *testing.T) {
	loops, branches := 0, 0
	for seed := range uint64(300) {
		g, s := controlled(seed)
		require.NoError(t, ir.Verify(g), "seed %d", seed)
		require.NoError(t, ir.VerifySchedule(s), "seed %d", seed)
		text := string(ir.Format(g, s))
		f, err := ir.Parse("x.rir", text)
		require.NoError(t, err, "seed %d\n%s", seed, text)
		require.Equal(t, g, f.Graph, "seed %d\n%s", seed, text)
		require.Equal(t, s, f.Schedule, "seed %d\n%s", seed, text)
		require.Equal(t, text, string(ir.Format(f.Graph, f.Schedule)))
		loops, branches = loops+strings.Count(text, "= loop"), branches+strings.Count(text, "= branch")
	}
	assert.Greater(t, loops, 100)
	assert.Greater(t, branches, 100)
}

// touched marks what accesses do with each byte.
func touched(g *ir.Graph, accesses []ir.Access) [][]ir.Hazard {
	marks := make([][]ir.Hazard, len(g.Buffers))
	for b := range marks {
		marks[b] = make([]ir.Hazard, g.Buffers[b].Size())
	}
	for _, a := range accesses {
		for i := a.Lo; i < a.Hi; i++ {
			if a.Mode.Reads() {
				marks[a.Buffer][i] |= 1
			}
			if a.Mode.Writes() {
				marks[a.Buffer][i] |= 2
			}
		}
	}
	return marks
}

// within returns all accesses of the bodies of an operation and of its conditions.
func within(c *ir.Control) []ir.Access {
	all := []ir.Access{{Range: c.Scalar, Mode: ir.Read}}
	for _, body := range c.Bodies {
		for v := range body.Ops {
			if inner := body.Ops[v].Control; inner != nil {
				all = append(all, within(inner)...)
				continue
			}
			all = append(all, body.Ops[v].Accesses(new([2]ir.Access))...)
		}
	}
	return all
}

func TestALoopAccessesTheUnionOfWhatItsBodyDoes(t *testing.T) {
	compared := 0
	for seed := range uint64(100) {
		g, _ := controlled(seed)
		for v := range g.Ops {
			op := &g.Ops[v]
			if op.Control == nil {
				continue
			}
			compared++
			uses := op.Accesses(new([2]ir.Access))
			require.Equal(t, touched(g, within(op.Control)), touched(g, uses), "seed %d, %%%d", seed, v)
			for i, a := range uses {
				for _, b := range uses[:i] {
					require.False(t, a.Overlaps(b.Range), "seed %d, %%%d", seed, v)
				}
			}
		}
	}
	assert.Greater(t, compared, 50)
}

// TestVerifyFindsFaultsOfControl spoils a loop, a branch or a schedule of them in ways that no text can express.
func TestVerifyFindsFaultsOfControl(t *testing.T) {
	const text = `graph g {
  buffer @x f32[4] inout
  buffer @h f64[2] pinned inout
  buffer @w u16[4] inout
  buffer @t f32[1] temporary
  %0 = loop until @x[0:4] below 1 max(5) {
    %0 = memset @x u32=1
  }
  %1 = branch if @x[4:8] above 1 {
    %0 = memset @x u32=1
  } else {
    %0 = empty
  }
}
schedule serial lanes(1) {
  %0 lane(0) body serial lanes(1) {
    %0 lane(0)
  }
  %1 lane(0) body serial lanes(1) {
    %0 lane(0)
  } body serial lanes(1) {
    %0 lane(0)
  }
}
`
	for _, c := range []struct {
		rule, want string
		spoil      func(loop, branch *ir.Op)
	}{
		{"payload", "exactly the operands of its kind", func(l, _ *ir.Op) { l.Control = nil }},
		{"payload", "exactly the operands of its kind", func(l, _ *ir.Op) { l.Kind = ir.KindEmpty }},
		{"condition", "buffer 9 of 4", func(l, _ *ir.Op) { l.Control.Scalar.Buffer = 9; l.Uses = nil }},
		{"condition", "name the bytes of one element", func(l, _ *ir.Op) { l.Control.Scalar.Hi = 8 }},
		{"condition", "name the bytes of one element", func(l, _ *ir.Op) { l.Control.Scalar = ir.Range{Lo: 2, Hi: 6} }},
		{"condition", "name the bytes of one element", func(l, _ *ir.Op) { l.Control.Scalar = ir.Range{Lo: 16, Hi: 20} }},
		{"condition", "is in host or managed memory", func(l, _ *ir.Op) { l.Control.Scalar = ir.Range{Buffer: 1, Hi: 8} }},
		{"condition", "an element is u16: use f32", func(l, _ *ir.Op) { l.Control.Scalar = ir.Range{Buffer: 2, Hi: 2} }},
		{"condition", "the buffer is temporary", func(l, _ *ir.Op) { l.Control.Scalar = ir.Range{Buffer: 3, Hi: 4} }},
		{"condition", "comparison(0) is none of", func(l, _ *ir.Op) { l.Control.Is = 0 }},
		{"condition", "comparison(7) is none of", func(_, b *ir.Op) { b.Control.Is = 7 }},
		{"condition", "nothing compares to NaN", func(_, b *ir.Op) { b.Control.Value = math.NaN() }},
		{"bodies", "has 0 bodies: a loop has one", func(l, _ *ir.Op) { l.Control.Bodies = nil }},
		{"bodies", "has 2 bodies: a loop has one", func(l, b *ir.Op) { l.Control.Bodies = b.Control.Bodies }},
		{"bodies", "has 3 bodies: a branch has one or two", func(_, b *ir.Op) { b.Control.Bodies = append(b.Control.Bodies, b.Control.Bodies[0]) }},
		{"bodies", "a body that is nil", func(l, _ *ir.Op) { l.Control.Bodies[0] = nil }},
		{"bodies", "at most 0 iterations", func(l, _ *ir.Op) { l.Control.Limit = 0 }},
		{"bodies", "after every -1", func(l, _ *ir.Op) { l.Control.Every = -1 }},
		{"bodies", "only a loop has", func(_, b *ir.Op) { b.Control.Limit = 3 }},
		{"bodies", "other modules, parameters, buffers or shapes", func(l, _ *ir.Op) {
			l.Control.Bodies[0] = &ir.Graph{Ops: l.Control.Bodies[0].Ops}
		}},
		{"bodies", "does not list the accesses of its bodies", func(l, _ *ir.Op) { l.Uses = l.Uses[1:] }},
		{"bodies", "which its body does not write", func(l, b *ir.Op) {
			c := *l.Control
			c.Bodies = b.Control.Bodies[1:]
			*l = ir.ControlOp(ir.KindLoop, c)
		}},
		{"memset", "in the body of %0 loop: %0 memset fills", func(l, _ *ir.Op) { l.Control.Bodies[0].Ops[0].Memset.Value.Type = ir.F64 }},
		{"bodies", "%0 host \"f\" is in a body", func(l, _ *ir.Op) {
			l.Control.Bodies[0].Ops = []ir.Op{{Kind: ir.KindHost, Label: "f", Cost: -1}}
		}},
	} {
		f, err := ir.Load("x.rir", text)
		require.NoError(t, err)
		g := f.Graph
		c.spoil(&g.Ops[0], &g.Ops[1])
		var v *ir.Violation
		err = ir.Verify(g)
		require.True(t, errors.As(err, &v), "%s: %v", c.want, err)
		assert.Equal(t, c.rule, v.Rule, "%v", err)
		assert.ErrorContains(t, err, c.want)
		assert.NotPanics(t, func() { ir.Print(g) })
	}
	for want, spoil := range map[string]func(s *ir.Schedule){
		"0 of 1 bodies of %0 loop are scheduled":             func(s *ir.Schedule) { delete(s.Bodies, 0) },
		"1 of 2 bodies of %1 branch are scheduled":           func(s *ir.Schedule) { s.Bodies[1] = s.Bodies[1][:1] },
		"a schedule of another graph for body 1":             func(s *ir.Schedule) { s.Bodies[1][1] = s.Bodies[0][0] },
		"a schedule with an arena for body 0":                func(s *ir.Schedule) { s.Bodies[0][0].Offset = []int64{-1, -1, -1, -1} },
		"bodies of %7 are scheduled":                         func(s *ir.Schedule) { s.Bodies[7] = nil },
		"in the body of %0 loop: lane 1 of 2 has no operati": func(s *ir.Schedule) { s.Bodies[0][0].Lanes = 2 },
	} {
		f, err := ir.Load("x.rir", text)
		require.NoError(t, err)
		spoil(f.Schedule)
		assert.ErrorContains(t, ir.VerifySchedule(f.Schedule), want)
	}
}
