//go:build cuda && cgo

package simabi

// #include <cuda.h>
// #include "thread.h"
import "C"

import "github.com/reprise-gpu/reprise/cuda/simabi/internal/capture"

// The driver's state of a thread must follow the OS thread, which Go cannot identify. thread.c therefore numbers the
// threads that call the driver, from 1, in thread-local memory. Numbers are not reused. When a thread ends, a
// destructor of thread-local memory adds its number to a list. It does not call Go, because the thread is about to
// disappear. The first call of the next new thread takes the numbers from the list and drops the states of these
// threads.

// thread is the driver's state of an OS thread.
type thread struct {
	stack     []*context         // the last is current
	own       map[uint64]*stream // its per-thread default streams, by the context's id
	perThread bool               // the call is of the _ptds or _ptsz kind
	inHost    bool               // it runs a host function, which must not call the driver
	capture   capture.Thread
	label     string // the name of the next object that it creates
}

// callers holds the states of threads by number.
var callers = map[uint64]*thread{}

// current returns the state of the calling thread. It creates one for a new thread,
// and then drops those of threads that have ended.
func current() *thread {
	caller := C.simabi_caller()
	id := uint64(caller.thread)
	t := callers[id]
	if t == nil {
		for gone := C.simabi_ended(); gone != 0; gone = C.simabi_ended() {
			callers[uint64(gone)].drop()
			delete(callers, uint64(gone))
		}
		t = &thread{}
		callers[id] = t
	}
	t.perThread, t.inHost = caller.per_thread != 0, caller.in_host != 0
	return t
}

// drop destroys the streams of a thread that has ended.
func (t *thread) drop() {
	for id, s := range t.own {
		if c := s.context; c.id == id && !c.destroyed {
			_ = c.sim.DestroyStream(s.sim)
		}
	}
}

// context returns the thread's current context, if it is usable.
func (t *thread) context() (*context, error) {
	c := t.top()
	switch {
	case c == nil:
		return nil, invalidContext
	case c.destroyed:
		return nil, status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	}
	return c, nil
}

// top returns the current context, or nil.
func (t *thread) top() *context {
	if n := len(t.stack); n > 0 {
		return t.stack[n-1]
	}
	return nil
}

// push makes a context current. The previous one becomes current again with the matching pop.
func (t *thread) push(c *context) { t.stack = append(t.stack, c) }

// pop removes and returns the current context, or nil.
func (t *thread) pop() *context {
	c := t.top()
	if c != nil {
		t.stack = t.stack[:len(t.stack)-1]
	}
	return c
}
