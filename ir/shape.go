package ir

import "github.com/reprise-gpu/reprise/internal/box"

// Shape is a set of bytes with up to two strides, relative to its first byte: runs of Run bytes, at
// i·Stride[0] + j·Stride[1] for 0 <= i < Count[0] and 0 <= j < Count[1]. A count of 0 stands for 1. A column tile of
// a matrix has one stride, the distance of two rows in bytes.
type Shape = box.Shape

// ShapeID is the number of a shape in Graph.Shapes, from 1. It is 0 for a contiguous range.
type ShapeID uint32

// Box returns the bytes of an access of an operation of g, a Shape at an offset of the buffer. The Range of the access
// is their hull.
func (g *Graph) Box(a Access) box.Box {
	if a.Shape == 0 {
		return box.Of(a.Lo, a.Hi)
	}
	return box.Box{Lo: a.Lo, Shape: g.Shapes[a.Shape-1]}
}
