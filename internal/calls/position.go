package calls

import (
	"path"
	"runtime"

	"github.com/reprise-gpu/reprise/ir"
)

// PositionOf returns the source line of a return address. The file keeps its last directory, which is enough to find it
// and the same on every machine.
func PositionOf(pc uintptr) *ir.Position {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	dir, file := path.Split(frame.File)
	return &ir.Position{File: path.Join(path.Base(dir), file), Line: frame.Line}
}
