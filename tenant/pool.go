package tenant

import (
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/tenancy"
	"github.com/reprise-gpu/reprise/tracer"
)

// Options of a Pool. The zero value has sensible ones.
type Options struct {
	MaxMembers int   // tenants that run together, at most; 0 means 64
	CacheBytes int64 // memory of the graphs that run several tenants, in bytes, about; 0 means 256 MiB

	// Reopen opens a device that takes the place of one on which a kernel has failed. A GPU refuses all work after such
	// a fault, and the contents of its memory are lost. With Reopen, the pool runs the members of the failed round again
	// on the new device, one by one, so that only the tenant with the fault gets an error, and records the programs of
	// all others there (see AddProgram). Without it, all requests end with the error. The pool closes these devices.
	Reopen func() (device.Device, error)
}

// Program records the program of a tenant on a device, and writes its constant data there.
type Program = tenancy.Program

// Stats counts what a pool did.
type Stats = tenancy.Stats

// Errors of requests.
var (
	// ErrClosed is the error of requests of a closed pool.
	ErrClosed = tenancy.ErrClosed
	// ErrRemoved is the error of requests of a tenant that was removed.
	ErrRemoved = tenancy.ErrRemoved
	// ErrLost is the error of tenants of traces after a kernel of any tenant has failed.
	ErrLost = tenancy.ErrLost
)

// DeadlineError is the error of a request that could not end in time. It did not run.
type DeadlineError = tenancy.DeadlineError

// FaultError is the error of a request whose own work failed.
type FaultError = tenancy.FaultError

// Pool runs the requests of tenants on one device. Its methods, and those of its tenants, may be called from any
// goroutine. While requests wait or run, only the pool may use the device: a goroutine of the pool makes all calls into
// it. Use lends it to others.
type Pool struct {
	requests chan *call
	commands chan func(*tenancy.Server)
	quit     chan struct{} // closed by Close
	closed   chan struct{} // closed when the goroutine has ended
	closing  sync.Once
	err      error // of Close
}

// NewPool starts a pool on a device. Close it before the device.
func NewPool(dev device.Device, o Options) (*Pool, error) {
	if absent.Is(dev) {
		return nil, absent.Nil("the device")
	}
	p := &Pool{requests: make(chan *call), commands: make(chan func(*tenancy.Server)), quit: make(chan struct{}), closed: make(chan struct{})}
	go p.serve(tenancy.NewServer(dev, tenancy.Options{MaxMembers: o.MaxMembers, CacheBytes: o.CacheBytes, Reopen: o.Reopen}))
	return p, nil
}

// do runs f on the goroutine of the pool and waits for it. It returns ErrClosed if the pool is closed.
func (p *Pool) do(f func(*tenancy.Server)) error {
	if p == nil || p.commands == nil {
		return ErrClosed
	}
	done := make(chan struct{})
	select {
	case p.commands <- func(s *tenancy.Server) { defer close(done); f(s) }:
		<-done
		return nil
	case <-p.closed:
		return ErrClosed
	}
}

// Add makes a tenant of a finished trace, which must stay open until the tenant is removed or the pool is closed. The
// addresses of its buffers are those of the present: after Trace.Bind, add another tenant.
func (p *Pool) Add(trace *tracer.Trace) (*Tenant, error) {
	if trace == nil || trace.Graph == nil {
		return nil, absent.Error("the trace is nil or zero: pass what Finish returns")
	}
	t := &Tenant{pool: p}
	var err error
	if closed := p.do(func(s *tenancy.Server) { t.tenant, err = s.Add(trace.Graph.Name, trace) }); closed != nil {
		return nil, closed
	}
	if err != nil {
		return nil, fmt.Errorf("add tenant %s: %w", trace.Graph.Name, err)
	}
	return t, nil
}

// AddProgram makes a tenant of a program. It calls the program with the device of the pool on the goroutine of the pool,
// now and after each fault of a kernel, on the device that Options.Reopen opens. The program must not call methods of the
// pool or of its tenants. The pool closes the traces. Buffers that the program keeps for later, to read results, must be
// those of the trace that Request.After receives. State that the tenant keeps in device memory from run to run is lost
// with the device.
func (p *Pool) AddProgram(name string, program Program) (*Tenant, error) {
	if program == nil {
		return nil, absent.Nil("the program")
	}
	t := &Tenant{pool: p}
	var err error
	if closed := p.do(func(s *tenancy.Server) { t.tenant, err = s.AddProgram(name, program) }); closed != nil {
		return nil, closed
	}
	if err != nil {
		return nil, fmt.Errorf("add tenant %s: %w", name, err)
	}
	return t, nil
}

// Use calls f with the device on the goroutine of the pool, for example to trace the program of another tenant. Runs in
// flight continue. f must not call methods of the pool or of its tenants.
func (p *Pool) Use(f func(device.Device) error) (err error) {
	if closed := p.do(func(s *tenancy.Server) { err = f(s.Device()) }); closed != nil {
		return closed
	}
	return err
}

// Stats returns the counts so far. Those of a closed pool are zero.
func (p *Pool) Stats() (stats Stats) {
	_ = p.do(func(s *tenancy.Server) { stats = s.Stats() })
	return stats
}

// Close ends the requests that wait with ErrClosed, waits for those that run, and frees what the pool has allocated. It
// leaves the traces and the device open. A second Close does nothing and returns the same error.
func (p *Pool) Close() error {
	if p == nil || p.quit == nil {
		return nil
	}
	p.closing.Do(func() { close(p.quit) })
	<-p.closed
	return p.err
}
