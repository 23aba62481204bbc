package parts

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/ir"
)

// Alignment is the alignment of allocations in bytes, on which kernels may rely.
const Alignment = 256

// Limits of one call into the device. It takes the driver of a GPU from tens of milliseconds to seconds, of
// which the call is not one part in ten thousand.
const (
	MaxReplays  = 1 << 14
	MaxCommands = 1 << 20
)

// OpName names an operation in errors: "square#2 at vec.go:41". It takes O(operations).
func OpName(g *ir.Graph, id ir.OpID) string { return At(opname.Of(g).Of(id), &g.Ops[id]) }

// At adds the line of an operation to its name.
func At(name string, op *ir.Op) string {
	if op.Pos == nil {
		return name
	}
	return name + " at " + op.Pos.String()
}

// OpError adds the name of an operation to an error.
func OpError(g *ir.Graph, id ir.OpID, err error) error {
	return fmt.Errorf("%s: %w", OpName(g, id), err)
}

// Wrapped adds what an error is about; nil stays nil.
func Wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Writers reports, by operation, which may write some bytes of r.
func Writers(g *ir.Graph, r ir.Range) []bool {
	writes := make([]bool, g.Len())
	var scratch [2]ir.Access
	for v := range g.Ops {
		accesses := g.Ops[v].Accesses(&scratch)
		writes[v] = slices.ContainsFunc(accesses, func(a ir.Access) bool {
			return a.Mode.Writes() && a.Overlaps(r) && g.Box(a).Overlaps(g.Box(ir.Access{Range: r}))
		})
	}
	return writes
}
