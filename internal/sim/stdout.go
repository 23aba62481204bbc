package sim

import (
	"fmt"
	"io"
)

// printLimit is the default number of bytes of printf output kept until the host waits; that of
// cudaLimitPrintfFifoSize.
const printLimit = 1 << 20

// fifo holds the output of kernels until the host waits for the device. If it is full, the oldest output is lost.
type fifo struct {
	out      io.Writer
	text     []byte
	lost     int64
	capacity int // capacity in bytes
}

func (f *fifo) Write(p []byte) (int, error) {
	f.text = append(f.text, p...)
	if len(f.text) >= 2*f.capacity { // trimming only at twice the capacity makes the cost of moving text O(1) per byte
		f.trim()
	}
	return len(p), nil
}

// Room returns the capacity in bytes.
func (f *fifo) Room() int { return f.capacity }

// Lost counts n dropped writes, and drops all text so far.
func (f *fifo) Lost(n int64) {
	f.lost += n + int64(len(f.text))
	f.text = f.text[:0]
}

// trim drops the oldest text beyond the capacity.
func (f *fifo) trim() {
	if over := len(f.text) - f.capacity; over > 0 {
		f.lost += int64(over)
		f.text = append(f.text[:0], f.text[over:]...)
	}
}

// flush writes the text. It ignores errors of the writer, which belongs to the program.
func (f *fifo) flush() {
	f.trim()
	if len(f.text) == 0 {
		return
	}
	if f.lost > 0 {
		_, _ = fmt.Fprintf(f.out, "[printf: the first %d bytes are lost, the device holds %d; wait for it more often]\n", f.lost, f.capacity)
	}
	_, _ = f.out.Write(f.text)
	f.text, f.lost = f.text[:0], 0
}
