package graphexec

import (
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// settings are what may change between replays.
type settings struct {
	params  []ir.Scalar         // by parameter
	pointer []device.Ptr        // by buffer; 0 for none
	grid    map[ir.OpID]ir.Dim3 // of launches of the whole program with another than was traced, zero for that
	off     map[ir.OpID]bool    // operations of the whole program that are skipped
}

// tracedSettings are the settings of the trace.
func tracedSettings(g *ir.Graph, b Bindings) settings {
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

// edits are settings that differ from others in a few things. A change of one thing takes no longer in a program
// that has many.
type edits struct {
	of      *settings
	params  map[ir.ParamID]ir.Scalar
	pointer map[ir.BufferID]device.Ptr
	grid    map[ir.OpID]ir.Dim3 // zero for that of the trace
	off     map[ir.OpID]bool
	moves   []ir.BufferID // that are elsewhere, in the order of the changes
}

// move puts a buffer elsewhere.
func (e *edits) move(id ir.BufferID, at device.Ptr) {
	put(&e.pointer, id, at)
	e.moves = append(e.moves, id)
}

// put is m[k] = v.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// Value returns the value of a parameter, for package lower.
func (e *edits) Value(id ir.ParamID) ir.Scalar {
	if v, ok := e.params[id]; ok {
		return v
	}
	return e.of.params[id]
}

// Address returns the address of a buffer, for package lower.
func (e *edits) Address(id ir.BufferID) device.Ptr {
	if p, ok := e.pointer[id]; ok {
		return p
	}
	return e.of.pointer[id]
}

func (e *edits) gridOf(id ir.OpID, l *ir.Launch) ir.Dim3 {
	grid, ok := e.grid[id]
	if !ok {
		grid = e.of.grid[id]
	}
	if grid == (ir.Dim3{}) {
		return l.Grid
	}
	return grid
}

func (e *edits) isOff(id ir.OpID) bool {
	if off, ok := e.off[id]; ok {
		return off
	}
	return e.of.off[id]
}

// undone are the edits that take these back.
func (e *edits) undone() edits {
	was := edits{of: e.of}
	for id := range e.params {
		put(&was.params, id, e.of.params[id])
	}
	for id := range e.pointer {
		put(&was.pointer, id, e.of.pointer[id])
	}
	for id := range e.grid {
		put(&was.grid, id, e.of.grid[id])
	}
	for id := range e.off {
		put(&was.off, id, e.of.off[id])
	}
	return was
}

// adopt makes the edits.
func (e *edits) adopt() {
	for id, v := range e.params {
		e.of.params[id] = v
	}
	for id, p := range e.pointer {
		e.of.pointer[id] = p
	}
	maps.Copy(e.of.grid, e.grid)
	maps.Copy(e.of.off, e.off)
}
