//go:build cuda

package simabi

// #include <cuda.h>
// #include "thread.h"
import "C"

// thread is what the driver keeps for each OS thread.
type thread struct {
	stack []*context // the last is current
}

// current is the state of the calling thread. That of threads which have ended is
// dropped when a new one appears.
func current() *thread {
	id := uint64(C.simabi_thread())
	t := driver.threads[id]
	if t == nil {
		for gone := C.simabi_ended(); gone != 0; gone = C.simabi_ended() {
			delete(driver.threads, uint64(gone))
		}
		t = &thread{}
		driver.threads[id] = t
	}
	return t
}

// context is the thread's current context, if it can be used.
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

// top is the current context, nil without one.
func (t *thread) top() *context {
	if n := len(t.stack); n > 0 {
		return t.stack[n-1]
	}
	return nil
}

func (t *thread) push(c *context) { t.stack = append(t.stack, c) }

// pop takes the current context away and returns it, nil when there is none.
func (t *thread) pop() *context {
	c := t.top()
	if c != nil {
		t.stack = t.stack[:len(t.stack)-1]
	}
	return c
}
