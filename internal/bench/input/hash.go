package input

import (
	"encoding/binary"
	"unsafe"
)

// Number is what arrays hold.
type Number interface {
	~int32 | ~float32 | ~float64 | ~uint8
}

// Hash carries h on over the bytes of an array: start with 0 and hash the input
// arrays of a run in the order of their first use. It tells inputs that differ
// apart, and is no more than that: whoever wants two arrays of one hash can have them.
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

// bytesOf is the memory of an array, as copies to a device take it.
func bytesOf[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
