package tenancy

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Signature identifies a program apart from the addresses of its buffers and the values of its parameters.
type Signature [sha256.Size]byte

// signatureOf returns the hash of the text of a graph, with neutral names of buffers and modules, without labels and
// positions, and of the sources of its modules.
func signatureOf(g *ir.Graph) (s Signature) {
	plain := &ir.Graph{Buffers: slices.Clone(g.Buffers), Params: slices.Clone(g.Params), Modules: slices.Clone(g.Modules), Ops: slices.Clone(g.Ops)}
	h := sha256.New()
	for i := range plain.Buffers {
		plain.Buffers[i].Name = fmt.Sprint("b", i)
	}
	for i := range plain.Params {
		plain.Params[i].Name, plain.Params[i].Value.Bits = fmt.Sprint("p", i), 0
	}
	for i := range plain.Modules {
		m := &plain.Modules[i]
		fmt.Fprintf(h, "%d ", len(m.Source))
		io.WriteString(h, m.Source)
		*m = ir.Module{Name: fmt.Sprint("m", i), File: fmt.Sprintf("m%d.ptx", i)}
	}
	for i := range plain.Ops {
		op := &plain.Ops[i]
		op.Pos, op.Cost = nil, -1
		if op.Kind != ir.KindHost {
			op.Label = ""
		}
	}
	io.WriteString(h, ir.Print(plain))
	h.Sum(s[:0])
	return s
}
