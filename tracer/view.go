package tracer

import "github.com/reprise-gpu/reprise/internal/traced"

func init() {
	traced.Open = func(bindings any) traced.Trace {
		if tr, ok := bindings.(*Trace); ok {
			return view{tr}
		}
		return nil
	}
}

// view is the traced.Trace of a Trace. Its methods are for package graphexec and are not exported on
// Trace.
type view struct{ *Trace }
