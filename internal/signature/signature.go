// Package signature identifies programs and their kernels by hashes of what they run: the code and the shapes, but
// neither addresses nor names. Package internal/tenancy joins tenants of equal signature, and package internal/timings
// stores measured times by signature.
package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Hash is a SHA-256 hash. Its text is 64 hexadecimal digits.
type Hash [sha256.Size]byte

// String returns the text of the hash.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the text of the hash.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText parses the text of a hash, in lower case.
func (h *Hash) UnmarshalText(text []byte) error {
	var read Hash
	if len(text) == 2*len(read) {
		_, err := hex.Decode(read[:], text)
		if err == nil && read.String() == string(text) {
			*h = read
			return nil
		}
	}
	return fmt.Errorf("%.100q is not a hash: a hash has %d hexadecimal digits, in lower case", text, 2*len(read))
}

// Code returns the hash of the source of a module.
func Code(source string) Hash { return sha256.Sum256([]byte(source)) }

// Of returns the signature of a program: it identifies the program apart from the addresses of its buffers and the values
// of its parameters. It is the hash of the text of the graph and of the sources of its modules. In the text, buffers,
// parameters and modules have neutral names, and operations have no labels, positions and costs.
func Of(g *ir.Graph) (s Hash) {
	plain := &ir.Graph{Buffers: slices.Clone(g.Buffers), Params: slices.Clone(g.Params), Modules: slices.Clone(g.Modules), Shapes: g.Shapes}
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
	plain.Ops = plainOps(g.Ops, plain)
	io.WriteString(h, ir.Print(plain))
	h.Sum(s[:0])
	return s
}

// plainOps returns operations, and those of their bodies, without labels, positions and costs. The bodies get the tables
// of tables.
func plainOps(ops []ir.Op, tables *ir.Graph) []ir.Op {
	plain := slices.Clone(ops)
	for i := range plain {
		op := &plain[i]
		op.Pos, op.Cost = nil, -1
		if op.Kind != ir.KindHost {
			op.Label = ""
		}
		if op.Control != nil {
			c := *op.Control
			c.Bodies = slices.Clone(c.Bodies)
			for k, body := range c.Bodies {
				c.Bodies[k] = &ir.Graph{Buffers: tables.Buffers, Params: tables.Params, Modules: tables.Modules, Shapes: tables.Shapes, Ops: plainOps(body.Ops, tables)}
			}
			op.Control = &c
		}
	}
	return plain
}
