package ir_test

import (
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/ir"
)

const missingText = `graph missing {
  module vec "vec.ptx"
  buffer @x f32[64] device(0) inout
  %0 = memset @x u32=0
  %1 = launch vec.square grid(4) block(256) args(@x) uses(readwrite @x)
  deps reduced {
    %0 -> %1 raw|waw @x
  }
}
-- vec.ptx --
.version 7.0
.target sm_50
.address_size 64
.visible .entry square(.param .u64 x) { ret; }
`

// TestMissingArguments calls the exported functions with nil or zero arguments.
func TestMissingArguments(t *testing.T) {
	file := func(t *testing.T) *ir.File {
		f, err := ir.Load("missing", missingText)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Format": ir.Format, "Print": ir.Print,
			"PrintSchedule": ir.PrintSchedule, "Verify": ir.Verify, "VerifySchedule": ir.VerifySchedule,
			"Load": ir.Load, "Parse": ir.Parse, "ControlOp": ir.ControlOp, "NewScalar": ir.NewScalar, "ParseScalar": ir.ParseScalar,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { return file(t).Graph },
			func(t *testing.T) any { return &ir.Graph{} },
			func(t *testing.T) any { return &ir.Schedule{Graph: file(t).Graph} },
			func(t *testing.T) any { return &ir.Schedule{} },
			func(t *testing.T) any { return &file(t).Graph.Ops[0] },
			func(*testing.T) any { return &ir.Op{} },
			func(*testing.T) any { return &ir.Buffer{} },
			func(*testing.T) any { return &ir.Causes{} },
			func(*testing.T) any { return &ir.Error{} },
			func(*testing.T) any { return &ir.Violation{} },
			func(*testing.T) any { return &ir.Condition{} },
			func(*testing.T) any { return ir.Scalar{} },
			func(*testing.T) any { return ir.Place{} },
			func(*testing.T) any { return ir.Range{} },
			func(*testing.T) any { return &ir.Position{} },
			func(*testing.T) any { return ir.Type(99) },
			func(*testing.T) any { return ir.Comparison(99) },
			func(*testing.T) any { return ir.Kind(99) },
			func(*testing.T) any { return ir.Mode(99) },
			func(*testing.T) any { return ir.Phase(99) },
			func(*testing.T) any { return ir.Role(99) },
			func(*testing.T) any { return ir.Hazard(99) },
			func(*testing.T) any { return ir.OpID(-1) },
			func(*testing.T) any { return ir.LaneID(-1) },
		},
		Pool: func(t *testing.T) []any {
			g := file(t).Graph
			return []any{g, &ir.Schedule{Graph: g}}
		},
		Typed:  func(err error) bool { return errors.Is(err, ir.ErrMissing) },
		Except: []string{"ir.Op.Accesses"}, // it returns no error: scratch memory is required
	})
}
