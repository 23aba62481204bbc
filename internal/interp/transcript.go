package interp

import (
	"cmp"
	"io"
	"slices"
)

// Printer receives what kernels print. It keeps the last bytes of that, as a driver does.
type Printer interface {
	io.Writer
	Room() int    // how many bytes it keeps
	Lost(n int64) // n bytes were printed before what is written next, and were dropped for want of room
}

// transcript is what blocks printed during a launch, in the order of the calls.
type transcript struct {
	text []byte
	runs []printed
	lost int64
}

// printed is the length of a stretch of text that one block printed.
type printed struct {
	block int64 // in grid order
	bytes int
}

func (t *transcript) reset() { t.text, t.runs, t.lost = t.text[:0], t.runs[:0], 0 }

// add appends what a block printed. There is room for the last bytes alone: blocks of an engine run in grid
// order, so what is dropped comes before as many bytes in the order of the grid, too.
func (t *transcript) add(block int64, text string, room int) {
	if text == "" {
		return
	}
	t.text = append(t.text, text...)
	if n := len(t.runs); n > 0 && t.runs[n-1].block == block {
		t.runs[n-1].bytes += len(text)
	} else {
		t.runs = append(t.runs, printed{block, len(text)})
	}
	if len(t.text) >= 2*room { // at each call, a kernel that prints much would move the text all the time
		t.drop(len(t.text) - room)
	}
}

// drop removes the first n bytes.
func (t *transcript) drop(n int) {
	t.lost += int64(n)
	t.text = append(t.text[:0], t.text[n:]...)
	first := 0
	for ; n > 0 && n >= t.runs[first].bytes; first++ {
		n -= t.runs[first].bytes
	}
	t.runs = append(t.runs[:0], t.runs[first:]...)
	if n > 0 {
		t.runs[0].bytes -= n
	}
}

// writePrinted writes what the blocks of a launch printed, in grid order.
func writePrinted(out Printer, engines []*engine) {
	type part struct {
		block int64
		text  []byte
	}
	var all []part
	lost := int64(0)
	for _, e := range engines {
		text := e.printed.text
		for _, r := range e.printed.runs {
			all = append(all, part{r.block, text[:r.bytes]})
			text = text[r.bytes:]
		}
		lost += e.printed.lost
		e.printed.reset()
	}
	if out == nil {
		return
	}
	slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(a.block, b.block) })
	if lost > 0 {
		out.Lost(lost)
	}
	for _, p := range all {
		_, _ = out.Write(p.text)
	}
}
