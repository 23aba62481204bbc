// Package beside runs a function on a goroutine of its own, and ends it for a caller that waits as if the caller had run
// it.
package beside

import "runtime"

// Run is a function that runs, or has run, on a goroutine of its own.
type Run struct {
	ended    chan struct{}
	returned bool // it neither panicked nor called runtime.Goexit
	panicked any
}

// Start runs f.
func Start(f func()) *Run {
	r := &Run{ended: make(chan struct{})}
	go r.run(f)
	return r
}

func (r *Run) run(f func()) {
	defer close(r.ended)
	defer func() {
		if !r.returned {
			r.panicked = recover()
		}
	}()
	f()
	r.returned = true
}

// Ended is closed when the function has ended, in whatever way.
func (r *Run) Ended() <-chan struct{} { return r.ended }

// Rethrow ends the caller's goroutine as the function ended its own: it panics where that panicked, exits where that
// called runtime.Goexit, and does nothing where it returned. The function must have ended.
func (r *Run) Rethrow() {
	switch {
	case r.panicked != nil:
		panic(r.panicked)
	case !r.returned:
		runtime.Goexit()
	}
}
