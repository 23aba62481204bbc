// Package huge makes arrays that are filled at once and take many pages.
package huge

import "unsafe"

// least is from how many bytes on an array is worth a call: sixteen huge pages.
const least = 32 << 20

// Make is make([]T, n). Where the system takes such advice, a large array comes in huge pages: to write first to each of
// many small ones takes longer than most passes over them.
func Make[T any](n int) []T {
	s := make([]T, n)
	if bytes := uintptr(n) * unsafe.Sizeof(*new(T)); bytes >= least {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytes))
	}
	return s
}
