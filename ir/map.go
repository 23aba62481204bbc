package ir

// Map declares which bytes the blocks of a launch touch through one of its buffers. It is of use where that does not
// follow from the code, because an index is loaded from memory. A layer is all blocks with the same index on the
// outermost axis of the grid that has more than one block: a block, in a grid of one dimension. Layer i touches only
//
//	[i·Step - Before, (i+1)·Step + After)
//
// of the first Size bytes behind the argument.
type Map struct {
	Arg    int   // number of the argument, a buffer
	Size   int64 // bytes that the launch may touch, at least 1
	Step   int64 // bytes of a layer, from 1 to Size
	Before int64 // further bytes in front of those of a layer, from 0 to Size
	After  int64 // further bytes behind them, from 0 to Size
}
