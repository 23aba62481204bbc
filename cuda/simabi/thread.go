//go:build cuda

package simabi

// #include "thread.h"
import "C"

// thread is what the driver keeps for each OS thread.
type thread struct {
	stack []*context // the last is current; nil may be pushed
}

// current is the state of the calling thread.
func current() *thread {
	id := uint64(C.simabi_thread())
	t := driver.threads[id]
	if t == nil {
		t = &thread{}
		driver.threads[id] = t
	}
	return t
}

// context is the thread's current context.
func (t *thread) context() (*context, error) {
	if n := len(t.stack); n > 0 && t.stack[n-1] != nil {
		c := t.stack[n-1]
		if c.destroyed {
			return nil, status(contextIsDestroyed)
		}
		return c, nil
	}
	return nil, invalidContext
}

// setCurrent replaces the top of the stack; nil takes it away.
func (t *thread) setCurrent(c *context) {
	if n := len(t.stack); n > 0 {
		t.stack = t.stack[:n-1]
	}
	if c != nil {
		t.stack = append(t.stack, c)
	}
}
