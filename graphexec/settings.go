package graphexec

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// settings are what may change between replays.
type settings struct {
	params  []ir.Scalar         // by parameter
	pointer []device.Ptr        // by buffer; 0 for none
	grid    map[ir.OpID]ir.Dim3 // of launches with another than was traced
	off     map[ir.OpID]bool    // operations that are skipped
}

// traced are the settings of the trace.
func traced(g *ir.Graph, b Bindings) settings {
	s := settings{
		params:  make([]ir.Scalar, len(g.Params)),
		pointer: make([]device.Ptr, len(g.Buffers)),
		grid:    map[ir.OpID]ir.Dim3{},
		off:     map[ir.OpID]bool{},
	}
	for i := range g.Params {
		s.params[i] = g.Params[i].Value
	}
	for i, named := range named(g) {
		if named {
			s.pointer[i] = b.Pointer(ir.BufferID(i))
		}
	}
	return s
}

func (s *settings) clone() settings {
	return settings{slices.Clone(s.params), slices.Clone(s.pointer), maps.Clone(s.grid), maps.Clone(s.off)}
}

func (s *settings) address(r ir.Range) device.Ptr { return s.pointer[r.Buffer] + device.Ptr(r.Lo) }

// pack builds the parameter block of a launch.
func (s *settings) pack(g *ir.Graph, l *ir.Launch) []byte {
	block, offsets := g.ParamBlock(l, func(b ir.BufferID) uint64 { return uint64(s.pointer[b]) })
	for i, a := range l.Args {
		if a.Kind != ir.ArgParam {
			continue
		}
		var bits [8]byte
		v := s.params[a.Param]
		binary.LittleEndian.PutUint64(bits[:], v.Bits)
		copy(block[offsets[i]:], bits[:v.Type.Size()])
	}
	return block
}
