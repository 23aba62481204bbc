package tenant

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/tenancy"
	"github.com/reprise-gpu/reprise/tracer"
)

// Tenant is a program with memory of its own.
type Tenant struct {
	pool   *Pool
	tenant *tenancy.Tenant
}

// Request is one run of a tenant's program.
type Request struct {
	// Deadline is the time within which the run must end, on the clock of the device. 0 means no deadline, and a negative
	// one has passed. A request that cannot end in time returns a DeadlineError and does not run.
	Deadline time.Duration
	// Before writes the inputs of the run and After reads its results. The pool calls them on its own goroutine, right
	// before the run and right after it. They may use tracer.Write and tracer.Read on buffers of the trace; both wait for
	// all work of the device. Copies from and to pinned memory that the trace records are quicker. They must not call
	// methods of the pool or of its tenants, which would wait for themselves. Either may be nil.
	Before, After func(*tracer.Trace) error
}

// call is a request on its way through the pool.
type call struct {
	request tenancy.Request
	allowed time.Duration
	done    chan struct{} // receives when the request has ended
}

var calls = sync.Pool{New: func() any {
	c := &call{done: make(chan struct{}, 1)}
	c.request.Done = func(*tenancy.Request) { c.done <- struct{}{} }
	return c
}}

// Submit runs the program once and returns when the run has ended. deadline is as in Request. The error is a
// *DeadlineError, a *FaultError, ErrClosed, ErrRemoved, that of ctx, or one of the device.
//
// If ctx is done while the request waits, Submit returns at once. If the program is running by then, Submit returns when
// the run has ended, with its result.
func (t *Tenant) Submit(ctx context.Context, deadline time.Duration) error {
	return t.Do(ctx, Request{Deadline: deadline})
}

// Do is Submit for a request with functions. Requests of one tenant run one after another.
func (t *Tenant) Do(ctx context.Context, r Request) error {
	switch {
	case ctx == nil:
		return absent.Nil("the context")
	case t == nil || t.pool == nil:
		return absent.Error("the tenant is nil or zero: pass what Pool.Add returns")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c := calls.Get().(*call)
	defer calls.Put(c)
	c.allowed = r.Deadline
	c.request = tenancy.Request{Tenant: t.tenant, Before: r.Before, After: r.After, Done: c.request.Done}
	select {
	case t.pool.requests <- c:
	case <-t.pool.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		_ = t.pool.do(func(s *tenancy.Server) { s.Cancel(&c.request, ctx.Err()) })
		<-c.done
	}
	return c.request.Err
}

// Remove removes the tenant. Its requests that wait end with ErrRemoved. Remove returns when its run has ended, and the
// trace may then be closed. A second Remove returns ErrRemoved.
func (t *Tenant) Remove() (err error) {
	if t == nil || t.pool == nil {
		return absent.Error("the tenant is nil or zero: pass what Pool.Add returns")
	}
	if closed := t.pool.do(func(s *tenancy.Server) { err = s.Remove(t.tenant) }); closed != nil {
		return closed
	}
	return err
}

// Alone returns why the tenant runs alone at present, or "" if it may run together with others.
func (t *Tenant) Alone() (reason string) {
	if t == nil || t.pool == nil {
		return ""
	}
	_ = t.pool.do(func(s *tenancy.Server) {
		if reason = s.Reason(t.tenant); reason == "" && t.tenant.Alone() {
			reason = "its last runs made those of the others slow"
		}
	})
	return reason
}
