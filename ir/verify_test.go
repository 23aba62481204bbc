package ir_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestVerify runs testdata/verify: the input of a case is a file, its output
// ok or what Load finds wrong.
func TestVerify(t *testing.T) {
	datadriven.Walk(t, "testdata/verify", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			_, err := ir.Load("x.rir", d.Input+"\n")
			if err != nil {
				return err.Error() + "\n"
			}
			return "ok\n"
		})
	})
}

// Faults that no text can express, since the parser would not let them pass.
func TestVerifyFindsWhatTextCannotSay(t *testing.T) {
	x := ir.Buffer{Name: "x", Elem: ir.F32, Len: 4}
	whole := ir.Range{Hi: 16}
	launch := func(l ir.Launch) ir.Op {
		l.Entry, l.Grid, l.Block = "k", ir.Dim3{X: 1, Y: 1, Z: 1}, ir.Dim3{X: 1, Y: 1, Z: 1}
		return ir.Op{Kind: ir.KindLaunch, Launch: &l}
	}
	for _, c := range []struct {
		rule string
		g    ir.Graph
	}{
		{"names", ir.Graph{Buffers: []ir.Buffer{x, x}}},
		{"modules", ir.Graph{Modules: []ir.Module{{Name: "m", File: "a\nb", Source: "x\n"}}}},
		{"modules", ir.Graph{Generated: 1}},
		{"modules", ir.Graph{Generated: -1}},
		{"modules", ir.Graph{Modules: []ir.Module{{Name: "m", File: "a", Source: "/*\n-- b --\n*/\n"}}}},
		{"scalars", ir.Graph{Params: []ir.Param{{Name: "n", Value: ir.Scalar{Type: 99}}}}},
		{"buffers", ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: 99}}}},
		{"buffers", ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: ir.F64, Len: math.MaxInt64/8 + 1}}}},
		{"buffers", ir.Graph{Buffers: []ir.Buffer{{Name: "x", Role: 99}}}},
		{"payload", ir.Graph{Ops: []ir.Op{{Kind: 99}}}},
		{"payload", ir.Graph{Ops: []ir.Op{{Kind: ir.KindCopy}}}},
		{"payload", ir.Graph{Ops: []ir.Op{{Kind: ir.KindEmpty, Launch: &ir.Launch{}}}}},
		{"payload", ir.Graph{Buffers: []ir.Buffer{x}, Ops: []ir.Op{{Uses: []ir.Access{{Range: whole}}}}}},
		{"ids", ir.Graph{Ops: []ir.Op{{Kind: ir.KindHost, Uses: []ir.Access{{Range: whole}}}}}},
		{"ids", ir.Graph{Ops: []ir.Op{{Kind: ir.KindMemset, Memset: &ir.Memset{Dst: ir.Range{Buffer: -1}}}}}},
		{"ids", ir.Graph{Ops: []ir.Op{launch(ir.Launch{})}}},
		{"ids", ir.Graph{Modules: make([]ir.Module, 1), Ops: []ir.Op{launch(ir.Launch{Args: []ir.Arg{{Kind: ir.ArgParam}}})}}},
		{"ids", ir.Graph{Modules: make([]ir.Module, 1), Ops: []ir.Op{launch(ir.Launch{Args: []ir.Arg{{Kind: ir.ArgBuffer}}})}}},
		{"ids", ir.Graph{Modules: make([]ir.Module, 1), Ops: []ir.Op{launch(ir.Launch{Args: []ir.Arg{{Kind: 99}}})}}},
		{"after", ir.Graph{Ops: []ir.Op{{After: []ir.OpID{0}}}}},
		{"after", ir.Graph{Ops: []ir.Op{{After: []ir.OpID{7}}}}},
		{"dependencies", ir.Graph{Phase: 99}},
	} {
		err := ir.Verify(&c.g)
		var v *ir.Violation
		require.True(t, errors.As(err, &v), "%s: %v", c.rule, err)
		assert.Equal(t, c.rule, v.Rule, "%v", err)
		assert.NotPanics(t, func() { ir.Print(&c.g) }, "%s", c.rule)
	}
}

// TestVerifyStopsAtBrokenBuffers expects the error of an invalid buffer before operations that use it are verified.
func TestVerifyStopsAtBrokenBuffers(t *testing.T) {
	g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: 99, Len: 1}}, Ops: []ir.Op{{
		Kind: ir.KindHost, Cost: -1, Uses: []ir.Access{{Range: ir.Range{Hi: 4}}},
	}}}
	assert.ErrorContains(t, ir.Verify(g), "buffer @x has elements of the unknown type")
}

func TestVerifyScheduleFindsWrongTables(t *testing.T) {
	g := &ir.Graph{Ops: make([]ir.Op, 2)}
	valid := func() *ir.Schedule {
		return &ir.Schedule{Graph: g, Lanes: 1, Order: []ir.OpID{0, 1}, Lane: make([]ir.LaneID, 2), Waits: make([][]ir.OpID, 2)}
	}
	require.NoError(t, ir.VerifySchedule(valid()))
	for want, spoil := range map[string]func(*ir.Schedule){
		"%1 empty has no turn":   func(s *ir.Schedule) { s.Order = s.Order[:1] },
		"Lane has 0 entries":     func(s *ir.Schedule) { s.Lane = nil },
		"Waits has 0 entries":    func(s *ir.Schedule) { s.Waits = nil },
		"Priority has 1 entries": func(s *ir.Schedule) { s.Priority = make([]int32, 1) },
		"Offset has 1 entries":   func(s *ir.Schedule) { s.Offset = make([]int64, 1) },
		"turns 0 and 1":          func(s *ir.Schedule) { s.Order[1] = 0 },
		"turn 1 is of %9":        func(s *ir.Schedule) { s.Order[1] = 9 },
		"waits for %9":           func(s *ir.Schedule) { s.Waits[1] = []ir.OpID{9} },
		"Delays has 1 entries":   func(s *ir.Schedule) { s.Delays = make([][]ir.OpID, 1) },
		"%1 is delayed by %0, which it does not wait for": func(s *ir.Schedule) { s.Delays = [][]ir.OpID{nil, {0}} },
	} {
		s := valid()
		spoil(s)
		assert.ErrorContains(t, ir.VerifySchedule(s), want)
	}
}

func TestErrorsCarryTheirPlace(t *testing.T) {
	_, err := ir.Load("x.rir", "graph g {\n  %0 = empty aftr(%0)\n}\n")
	var e *ir.Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, ir.Error{File: "x.rir", Line: 2, Col: 14, Source: "  %0 = empty aftr(%0)",
		Msg: `"aftr" is not an attribute of an operation; did you mean after?`}, *e)
}

func TestFilesAreRead(t *testing.T) {
	g := &ir.Graph{Name: "g", Modules: []ir.Module{{Name: "m", File: "m.ptx", Source: ".version 7.0"}}}
	f, err := ir.Load("g.rir", string(ir.Format(g, nil)))
	require.NoError(t, err)
	assert.Equal(t, ".version 7.0\n", f.Graph.Modules[0].Source, "the source gains a newline")
	assert.Nil(t, f.Schedule)
}

func TestEveryRuleIsTested(t *testing.T) {
	text, err := os.ReadFile("testdata/verify/graph")
	require.NoError(t, err)
	for _, rule := range []string{"ranges", "copy", "memset", "launch", "arguments", "constants", "dependencies", "hazards", "reduced", "buffers"} {
		assert.Contains(t, string(text), "(rule "+rule+")")
	}
	text, err = os.ReadFile("testdata/verify/schedule")
	require.NoError(t, err)
	for _, rule := range []string{"tables", "lanes", "waits", "dependencies", "arena"} {
		assert.Contains(t, string(text), "(rule "+rule+")")
	}
	assert.Equal(t, 1, strings.Count(string(text), "graph arena"))
	text, err = os.ReadFile("testdata/verify/control")
	require.NoError(t, err)
	for _, rule := range []string{"condition", "bodies"} {
		assert.Contains(t, string(text), "(rule "+rule+")")
	}
}

// TestVerifyRefusesSizesThatNoDeviceHas goes up to sizes that overflow, of one buffer and of several together.
func TestVerifyRefusesSizesThatNoDeviceHas(t *testing.T) {
	for _, lengths := range [][]int64{{1<<45 + 1}, {1<<61 + 4}, {1 << 61}, {1 << 60}, {math.MaxInt64 / 8}, {math.MaxInt64}, {1 << 44, 1 << 44, 1}} {
		g := &ir.Graph{Name: "g"}
		for i, n := range lengths {
			g.Buffers = append(g.Buffers, ir.Buffer{Name: fmt.Sprint("b", i), Elem: ir.F64, Len: n})
		}
		assert.ErrorContains(t, ir.Verify(g), "2^48 bytes", "%d", lengths)
	}
	fits := &ir.Graph{Name: "g", Buffers: []ir.Buffer{{Name: "b", Elem: ir.F64, Len: 1 << 45}}}
	assert.NoError(t, ir.Verify(fits))
}
