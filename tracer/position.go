package tracer

import (
	"fmt"
	"runtime"

	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// functionOf names the function of a return address.
func functionOf(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return frame.Function
}

// callSite is the key of a label: a place in the traced program and the name of what it calls there.
type callSite struct {
	name string
	pc   uintptr
}

// label returns the label of work that is issued at once, such as "square at main.go:41". Resolving the
// line takes longer than issuing the work, so the labels are cached.
func (t *Tracer) label(name string, pc uintptr) string {
	site := callSite{name, pc}
	l, ok := t.labels[site]
	if !ok {
		l = fmt.Sprintf("%s at %v", name, calls.PositionOf(pc))
		if t.labels == nil {
			t.labels = map[callSite]string{}
		}
		t.labels[site] = l
	}
	return l
}

// positions returns the positions of all return addresses in the recording. Each is resolved once: a
// loop issues thousands of operations from a few lines.
func (t *Tracer) positions() map[uintptr]*ir.Position {
	known := map[uintptr]*ir.Position{}
	for i := range t.calls.len() {
		pc := t.calls.pc(i)
		if i > 0 && pc == t.calls.pc(i-1) {
			continue
		}
		if _, ok := known[pc]; !ok {
			known[pc] = calls.PositionOf(pc)
		}
	}
	return known
}
