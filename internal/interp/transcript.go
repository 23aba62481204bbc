package interp

import (
	"cmp"
	"io"
	"slices"
)

// Printer receives the output of kernels. It keeps the last bytes of it, as a driver
// does.
type Printer interface {
	io.Writer
	Room() int    // the number of bytes that it keeps
	Lost(n int64) // n bytes in front of the next write were dropped, since they exceed Room
}

// transcript is the output of blocks during a launch, in the order of the calls. runs
// divides text into parts of one block each; their lengths add up to len(text).
type transcript struct {
	text []byte
	runs []printed
	lost int64
}

// printed is a run of text that one block printed.
type printed struct {
	block int64 // in grid order
	bytes int
}

// reset removes all text.
func (t *transcript) reset() { t.text, t.runs, t.lost = t.text[:0], t.runs[:0], 0 }

// add appends the output of a block. Only the last bytes are kept. Blocks of an engine
// run in grid order, so the dropped bytes also precede as many bytes in grid order.
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
	if len(t.text) >= 2*room { // not at each call, since that would move the text each time
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

// writePrinted writes the output of a launch in grid order.
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
