package tracer

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

func init() {
	traced.Open = func(p traced.Program) traced.Trace {
		if tr, ok := p.(*Trace); ok {
			return view{tr}
		}
		return nil
	}
	traced.Load = func(dev device.Device, f *ir.File) (any, error) { return load(dev, f) }
	traced.FileOf = func(p traced.Program) (*ir.File, error) { return p.(*Trace).file(SaveOptions{Contents: true}) }
	traced.Allocate = func(b any) { b.(Buffer).allocate() }
	traced.Owns = func(t, b any) bool { return t != (*Tracer)(nil) && b.(Buffer).t == t }
}

// view is the traced.Trace of a Trace. Its methods are for packages graphexec and optimizer and are not exported on
// Trace.
type view struct{ *Trace }
