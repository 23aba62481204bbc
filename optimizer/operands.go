package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// checkOperands returns an error for an operation without what its kind requires, or that uses a buffer that the graph
// lacks. Passes index by these without a check of their own. It is the cheap part of ir.Verify: about 1 % of a plan.
func checkOperands(g *ir.Graph) error {
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		if lacksOperands(op) {
			return absent.Error(fmt.Sprintf("operation %v of %s is a %v and has none: set the field of its kind", ir.OpID(v), g.Name, op.Kind))
		}
		for _, a := range op.Accesses(&scratch) {
			if a.Buffer < 0 || int(a.Buffer) >= len(g.Buffers) {
				return fmt.Errorf("%w: operation %v of %s uses buffer %d, and there are %d", ir.ErrMissing, ir.OpID(v), g.Name, a.Buffer, len(g.Buffers))
			}
		}
	}
	return nil
}

func lacksOperands(op *ir.Op) bool {
	switch op.Kind {
	case ir.KindLaunch:
		return op.Launch == nil
	case ir.KindCopy:
		return op.Copy == nil
	case ir.KindMemset:
		return op.Memset == nil
	case ir.KindPrefetch:
		return op.Prefetch == nil
	case ir.KindLoop, ir.KindBranch:
		return op.Control == nil || slices.Contains(op.Control.Bodies, nil)
	}
	return false
}
