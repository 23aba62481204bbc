package graphexec

import (
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// settings is the state of a program that may change between replays. Operations are numbered in the
// whole program.
type settings struct {
	params  []ir.Scalar         // by parameter
	pointer []device.Ptr        // by buffer; 0 for a buffer that no operation uses
	grid    map[ir.OpID]ir.Dim3 // by launch; the traced grid if absent or zero
	off     map[ir.OpID]bool    // operations that are disabled
}

// tracedSettings returns the settings with which a graph was traced.
func tracedSettings(g *ir.Graph, b traced.Bindings) settings {
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

// edits is a set of changes relative to settings, which they do not modify before adopt. It holds only
// what differs, so the cost of a change does not grow with the number of parameters and buffers.
type edits struct {
	of      *settings
	params  map[ir.ParamID]ir.Scalar
	pointer map[ir.BufferID]device.Ptr
	grid    map[ir.OpID]ir.Dim3 // zero for the traced grid
	off     map[ir.OpID]bool
	moves   []ir.BufferID // the buffers in pointer, in the order of the changes; may repeat
}

// move binds a buffer to another address.
func (e *edits) move(id ir.BufferID, at device.Ptr) {
	put(&e.pointer, id, at)
	e.moves = append(e.moves, id)
}

// put sets (*m)[k] to v and makes the map if it is nil.
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

// gridOf returns the grid of launch id, which is l in the trace.
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

// undone returns the edits that restore the present settings after e has been adopted.
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

// adopt writes the edits to the settings.
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
