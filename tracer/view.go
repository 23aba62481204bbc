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

// view is a Trace as package graphexec uses it.
type view struct{ *Trace }
