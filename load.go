package reprise

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// SaveOptions select what [tracer.Trace.Save] writes beside the program.
type SaveOptions = tracer.SaveOptions

// Load reads a program that [tracer.Trace.Save] or the command reprise trace has written, and allocates its buffers on dev.
// The trace is as Finish returned it: Compile it, Write and Read its buffers, which [tracer.Trace.Buffer] returns by name,
// and replay it. Buffers have the contents that the file states. Functions of host calls are not in the file:
// [tracer.Trace.BindHost] sets them.
//
//	trace, err := reprise.Load(dev, "circle.rir")
//	exec, err := reprise.Compile(dev, trace, reprise.Options{})
//	x, err := trace.Buffer("x")
//	err = reprise.Write(x, data)
//	err = exec.Replay(ctx)
func Load(dev Device, path string) (*Trace, error) {
	text, err := bounded.ReadFile(path, bounded.MaxProgram)
	if err != nil {
		return nil, fmt.Errorf("load a program: %w", err)
	}
	f, err := ir.Load(path, string(text))
	if err != nil {
		return nil, err
	}
	trace, err := traced.Load(dev, f)
	if err != nil {
		return nil, err
	}
	return trace.(*Trace), nil
}
