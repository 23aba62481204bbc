package tracer

import (
	"path"
	"runtime"

	"github.com/reprise-gpu/reprise/ir"
)

// positionOf resolves a return address. The file keeps its last directory,
// enough to find it and the same on every machine.
func positionOf(pc uintptr) ir.Position {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	dir, file := path.Split(frame.File)
	return ir.Position{File: path.Join(path.Base(dir), file), Line: frame.Line}
}

// resolvePositions fills in every operation's position, each address once: a
// traced loop issues thousands of operations from a few lines.
func (t *Tracer) resolvePositions() {
	known := map[uintptr]ir.Position{}
	for i, pc := range t.pcs {
		pos, ok := known[pc]
		if !ok {
			pos = positionOf(pc)
			known[pc] = pos
		}
		t.graph.Ops[i].Pos = pos
	}
	t.pcs = nil
}
