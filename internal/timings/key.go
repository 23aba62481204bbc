package timings

import (
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/ir"
)

// Kernel identifies code with a launch shape, in any program. Arguments and registers are not part of it.
type Kernel struct {
	Code   signature.Hash // of the module's source
	Entry  string
	Grid   ir.Dim3
	Block  ir.Dim3
	Shared uint32 // dynamic shared memory of a block, bytes
}

// Node identifies an operation of a program, by the signature of the program as it was recorded.
type Node struct {
	Program signature.Hash
	Op      ir.OpID
}

// Gap identifies a point at which a program leaves the device idle until its host continues.
type Gap struct {
	Program signature.Hash
	Sync    int // 0 is the end of a replay; the caller numbers points within a replay from 1
}

// KernelOf returns the kernel of an operation, and the zero Kernel for an operation that is not a launch.
func KernelOf(g *ir.Graph, v ir.OpID) Kernel {
	l := g.Ops[v].Launch
	if l == nil {
		return Kernel{}
	}
	return Kernel{Code: signature.Code(g.Modules[l.Module].Source), Entry: l.Entry, Grid: l.Grid, Block: l.Block, Shared: l.Shared}
}
