package input

import (
	"encoding/binary"
	"unsafe"
)

// Number is the type of the elements of arrays.
type Number interface {
	~int32 | ~float32 | ~float64 | ~uint8
}

// Hash extends the hash h by the bytes of an array. Start with 0 and hash the input arrays of a run in the order of
// their first use. The hash detects accidental differences; it is not cryptographic.
func Hash[T Number](h uint64, array []T) uint64 {
	data := bytesOf(array)
	for ; len(data) >= 8; data = data[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(data))
	}
	if len(data) > 0 {
		var word [8]byte
		copy(word[:], data)
		h = mix(h ^ binary.LittleEndian.Uint64(word[:]))
	}
	return mix(h ^ uint64(len(bytesOf(array))))
}

// bytesOf returns the memory of an array.
func bytesOf[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
