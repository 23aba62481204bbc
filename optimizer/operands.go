package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// checkOperands returns an error for an operation without what its kind requires, or that uses a buffer that
// or a shape that the graph lacks. Passes index by these without a check of their own. It is the cheap part of ir.Verify:
// about 1 % of a plan.
func checkOperands(g *ir.Graph) error {
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		if !op.Complete() || op.Control != nil && slices.Contains(op.Control.Bodies, nil) {
			return absent.Error(fmt.Sprintf("operation %v of %s is a %v: set the field of its kind and no other", ir.OpID(v), g.Name, op.Kind))
		}
		for _, a := range op.Accesses(&scratch) {
			if a.Buffer < 0 || int(a.Buffer) >= len(g.Buffers) {
				return fmt.Errorf("%w: operation %v of %s uses buffer %d, and there are %d", ir.ErrMissing, ir.OpID(v), g.Name, a.Buffer, len(g.Buffers))
			}
			if int(a.Shape) > len(g.Shapes) {
				return fmt.Errorf("%w: operation %v of %s uses shape %d, and there are %d", ir.ErrMissing, ir.OpID(v), g.Name, a.Shape, len(g.Shapes))
			}
		}
	}
	return nil
}
