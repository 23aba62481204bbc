// Package bufsize bounds the sizes of buffers.
package bufsize

import "fmt"

// Max is the largest number of bytes of one buffer, and of all buffers of a graph together. No GPU addresses more:
// virtual addresses have 49 bits. Sums of offsets and sizes below it cannot overflow.
const Max = 1 << 48

// Type is the type of a buffer's elements. The size of an unknown type is 0 bytes.
type Type interface {
	Size() int64
	String() string
}

// Check returns why no buffer can have n elements.
func Check(elem Type, n int64) error {
	size := elem.Size()
	switch {
	case size == 0:
		return fmt.Errorf("has elements of the unknown type %v", elem)
	case n < 0:
		return fmt.Errorf("has %d elements: the number cannot be negative", n)
	case n > Max/size:
		return fmt.Errorf("has %d elements of %d bytes: more than the 2^48 bytes that a GPU can address", n, size)
	}
	return nil
}

// Total is the number of bytes of several buffers.
type Total int64

// Add adds a buffer. It returns why the buffer is too large, alone or together with those that were added before.
func (t *Total) Add(name string, elem Type, n int64) error {
	if err := Check(elem, n); err != nil {
		return fmt.Errorf("buffer @%s %w", name, err)
	}
	if *t += Total(n * elem.Size()); *t > Max {
		return fmt.Errorf("buffer @%s and those before it have more than the 2^48 bytes that a GPU can address", name)
	}
	return nil
}
