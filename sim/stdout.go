package sim

import (
	"fmt"
	"io"
)

// printLimit is how much output of printf waits for the host, as with a driver
// whose cudaLimitPrintfFifoSize nobody has set.
const printLimit = 1 << 20

// fifo holds what kernels print until the host waits for the device. When it is
// full the oldest output is lost.
type fifo struct {
	out  io.Writer
	text []byte
	lost int64
	most int // bytes
}

func (f *fifo) Write(p []byte) (int, error) {
	f.text = append(f.text, p...)
	if len(f.text) >= 2*f.most { // at each write, a kernel that prints much would move the text all the time
		f.trim()
	}
	return len(p), nil
}

// Room is how many bytes of output the device holds.
func (f *fifo) Room() int { return f.most }

// Lost counts output that was dropped, and all that was printed before it.
func (f *fifo) Lost(n int64) {
	f.lost += n + int64(len(f.text))
	f.text = f.text[:0]
}

// trim loses what the device has no room for.
func (f *fifo) trim() {
	if over := len(f.text) - f.most; over > 0 {
		f.lost += int64(over)
		f.text = append(f.text[:0], f.text[over:]...)
	}
}

// flush writes what has been printed. An error of the writer is the program's
// affair: it is its own writer.
func (f *fifo) flush() {
	f.trim()
	if len(f.text) == 0 {
		return
	}
	if f.lost > 0 {
		_, _ = fmt.Fprintf(f.out, "[printf: the first %d bytes are lost, the device holds %d; wait for it more often]\n", f.lost, f.most)
	}
	_, _ = f.out.Write(f.text)
	f.text, f.lost = f.text[:0], 0
}
