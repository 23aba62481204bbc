package ir

// ParamBlock lays a launch's arguments out as the driver does, each at the
// alignment of its own size, and returns the offset of every argument.
// address gives a buffer's base.
func (g *Graph) ParamBlock(l *Launch, address func(BufferID) uint64) (block []byte, offsets []int) {
	offsets = make([]int, len(l.Args))
	block = make([]byte, 0, 8*len(l.Args))
	for i, a := range l.Args {
		v := Scalar{Type: U64}
		switch a.Kind {
		case ArgScalar:
			v = a.Scalar
		case ArgBuffer:
			v.Bits = address(a.Buffer) + uint64(a.Offset)
		case ArgParam:
			v = g.Params[a.Param].Value
		}
		size := int(v.Type.Size())
		for len(block)%size != 0 {
			block = append(block, 0)
		}
		offsets[i] = len(block)
		for b := range size {
			block = append(block, byte(v.Bits>>(8*b)))
		}
	}
	return block, offsets
}
