package ir

import "slices"

// BufferByName returns the buffer of that name. It looks at all of them.
func (g *Graph) BufferByName(name string) (BufferID, bool) {
	i := slices.IndexFunc(g.Buffers, func(b Buffer) bool { return b.Name == name })
	return BufferID(i), i >= 0
}

// ParamByName returns the parameter of that name. It looks at all of them.
func (g *Graph) ParamByName(name string) (ParamID, bool) {
	i := slices.IndexFunc(g.Params, func(p Param) bool { return p.Name == name })
	return ParamID(i), i >= 0
}
