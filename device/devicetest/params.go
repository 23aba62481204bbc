package devicetest

import (
	"encoding/binary"
	"math"

	"github.com/reprise-gpu/reprise/device"
)

// params lays out a parameter block: addresses take 8 bytes, aligned to 8, and 32-bit numbers 4 bytes, aligned to 4.
func params(args ...any) []byte {
	var b []byte
	for _, a := range args {
		switch v := a.(type) {
		case device.Ptr:
			b = binary.LittleEndian.AppendUint64(pad(b, 8), uint64(v))
		case device.Condition:
			b = binary.LittleEndian.AppendUint64(pad(b, 8), uint64(v))
		case float32:
			b = binary.LittleEndian.AppendUint32(pad(b, 4), math.Float32bits(v))
		case uint64:
			b = binary.LittleEndian.AppendUint64(pad(b, 8), v)
		case uint32:
			b = binary.LittleEndian.AppendUint32(pad(b, 4), v)
		default:
			panic("BUG: parameter of a type no kernel here takes")
		}
	}
	return b
}

func pad(b []byte, unit int) []byte {
	for len(b)%unit != 0 {
		b = append(b, 0)
	}
	return b
}

// words is n consecutive 32-bit integers from first on, as bytes.
func words(n int, at func(i int) uint32) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, at(i))
	}
	return b
}

func constant(v uint32) func(int) uint32 { return func(int) uint32 { return v } }

func index(i int) uint32 { return uint32(i) }
