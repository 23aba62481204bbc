package lower

import (
	"encoding/binary"

	"github.com/reprise-gpu/reprise/ir"
)

// Params packs arguments into the parameter block of a launch. As in PTX, each argument is aligned to its own
// size, which is 1, 2, 4 or 8 bytes:
//
//	arguments   i32 5, pointer, f32 0.5
//	offset      0   4         8         16    20
//	            │ 5 │ padding │ address │ 0.5 │
func Params(args []ir.Arg, v Values) []byte {
	block := make([]byte, 0, 8*len(args)) // an argument and the padding before it take at most 8 bytes
	for i := range args {
		s := scalar(&args[i], v)
		size := int(s.Type.Size())
		for len(block)%size != 0 {
			block = append(block, 0)
		}
		at := len(block)
		block = block[:at+size]
		Put(block[at:], int64(size), s.Bits)
	}
	return block
}

// scalar returns the bits that are passed for an argument. A buffer is passed as its address.
func scalar(a *ir.Arg, v Values) ir.Scalar {
	switch a.Kind {
	case ir.ArgBuffer:
		return ir.Scalar{Type: ir.U64, Bits: uint64(v.Address(a.Buffer)) + uint64(a.Offset)}
	case ir.ArgParam:
		return v.Value(a.Param)
	}
	return a.Scalar
}

// Put stores a scalar of 1, 2, 4 or 8 bytes at the beginning of block.
func Put(block []byte, size int64, bits uint64) {
	switch size {
	case 8:
		binary.LittleEndian.PutUint64(block, bits)
	case 4:
		binary.LittleEndian.PutUint32(block, uint32(bits))
	case 2:
		binary.LittleEndian.PutUint16(block, uint16(bits))
	default:
		block[0] = byte(bits)
	}
}
