package tenancy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Options of a Server. The zero value has sensible ones.
type Options struct {
	MaxMembers int   // requests in a round; 0 means 64
	CacheBytes int64 // super-graphs kept, in bytes; 0 means 256 MiB
	// Separate disables super-graphs: every request runs alone, those of a cohort one after another.
	Separate bool
	// Reopen opens a device that takes the place of one on which a kernel has failed; see AddProgram. It may be nil.
	Reopen func() (device.Device, error)
	// OnRound, if not nil, is called before a round is launched, with the number of its requests.
	OnRound func(members int) error
}

// Stats counts what a Server did.
type Stats struct {
	Requests   int // that ended, in any way
	Late       int // that were refused with a DeadlineError
	Rounds     int // with super-graphs
	Members    int // requests in these rounds
	Alone      int // requests that ran alone
	Hits       int // rounds whose super-graph was in the cache
	Misses     int // rounds whose super-graph was built
	Dropped    int // super-graphs that left the cache
	Stragglers int // times that a tenant was made to run alone
	Faults     int // times that another device took the place of one with a fault
}

// Server runs requests. Its methods are called from one goroutine.
type Server struct {
	dev     device.Device
	virtual virtualTime   // nil on a device in real time
	ended   chan struct{} // on such a device: a round may be over
	timer   *time.Timer   // of sleep
	options Options
	cohorts []*cohort
	formed  int            // cohorts so far
	rounds  []*round       // in flight, in the order of their launches
	wait    []device.Event // scratch of Await
	free    []*round       // for later rounds
	uses    int            // of super-graphs
	cached  int64          // bytes of all super-graphs
	arrived int            // requests so far
	stats   Stats
	failed  error         // of the device; nothing more can run
	epoch   time.Duration // Now minus the clock of the device
	owned   bool          // the device is from Options.Reopen
}

// virtualTime is a device whose clock advances only while the host waits for it.
type virtualTime interface {
	WaitFirst(until time.Duration, events ...device.Event) error
	// Completed returns when the last record of an event completed, if it has, at no cost.
	Completed(device.Event) (at time.Duration, ok bool)
	Err() error
}

// NewServer returns a server without tenants.
func NewServer(dev device.Device, o Options) *Server {
	if o.MaxMembers <= 0 {
		o.MaxMembers = 64
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 256 << 20
	}
	s := &Server{options: o, ended: make(chan struct{}, 1)}
	s.adopt(dev)
	return s
}

// adopt makes dev the device of the server.
func (s *Server) adopt(dev device.Device) {
	s.dev, s.virtual = dev, nil
	if dev.Info().Simulated {
		s.virtual, _ = dev.(virtualTime)
	}
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats { return s.stats }

// Now returns the time on the server's clock: that of the device, which goes on if another device takes its place.
func (s *Server) Now() time.Duration { return s.epoch + s.dev.Now() }

// Device returns the device that the server uses at present.
func (s *Server) Device() device.Device { return s.dev }

// Program records the program of a tenant on a device, and writes its constant data there.
type Program func(device.Device) (*tracer.Trace, error)

// Add makes a tenant of a trace. The trace must stay open until the tenant is removed or the server is closed.
func (s *Server) Add(name string, trace *tracer.Trace) (*Tenant, error) {
	t := &Tenant{Name: name}
	return t, s.admit(t, trace)
}

// AddProgram makes a tenant of a program. If a kernel of any tenant fails, which makes a device unusable, the program is
// recorded again on the device that takes its place. The server closes the trace.
func (s *Server) AddProgram(name string, program Program) (*Tenant, error) {
	trace, err := program(s.dev)
	if err != nil {
		return nil, err
	}
	t := &Tenant{Name: name, program: program}
	if err := s.admit(t, trace); err != nil {
		return nil, device.Join(err, trace.Close())
	}
	return t, nil
}

// admit binds a tenant to a trace and adds it to its cohort.
func (s *Server) admit(t *Tenant, trace *tracer.Trace) error {
	if trace == nil || trace.Graph == nil {
		return errors.New("the trace is nil or zero: pass what Finish returns")
	}
	return s.bind(t, trace, trace.Graph, traced.BindingsOf(trace))
}

// AddGraph makes a tenant of a graph and its bindings, for programs without a trace. The functions of its requests are
// called without one.
func (s *Server) AddGraph(name string, g *ir.Graph, bound traced.Bindings) (*Tenant, error) {
	t := &Tenant{Name: name}
	return t, s.bind(t, nil, g, bound)
}

func (s *Server) bind(t *Tenant, trace *tracer.Trace, g *ir.Graph, bound traced.Bindings) error {
	if err := bound.Check(s.dev, g); err != nil {
		return err
	}
	if err := allocate(g, bound); err != nil {
		return err
	}
	memory := footprintOf(g, bound)
	if err := s.separate(memory); err != nil {
		return err
	}
	c, err := s.cohort(signature.Of(g), g)
	if err != nil {
		return err
	}
	t.trace, t.graph, t.bound, t.cohort, t.memory = trace, g, bound, c, memory
	if c.template.reason == "" {
		if err := s.putRow(t); err != nil {
			return device.Join(err, s.disband(c))
		}
	}
	t.missed = c.missed()
	c.members = append(c.members, t)
	return nil
}

// putRow writes the arguments of a tenant to device memory.
func (s *Server) putRow(t *Tenant) error {
	row, err := t.cohort.template.row(t)
	if err != nil {
		return err
	}
	if t.row, err = s.dev.Alloc(int64(len(row))); err != nil {
		return fmt.Errorf("arguments of tenant %s: %w", t.Name, err)
	}
	return s.dev.Write(t.row, row)
}

// cohort returns the cohort of a signature, and makes it if it does not exist.
func (s *Server) cohort(sig signature.Hash, g *ir.Graph) (*cohort, error) {
	for _, c := range s.cohorts {
		if c.signature == sig {
			return c, nil
		}
	}
	s.formed++
	c := &cohort{over: leftovers{joined: 1}, number: s.formed, signature: sig, template: &template{reason: "super-graphs are disabled"}}
	var err error
	if !s.options.Separate {
		if c.template, err = newTemplate(s.dev, g); err != nil {
			return nil, err
		}
	}
	if c.stream, err = s.dev.CreateStream(0); err != nil {
		return nil, device.Join(err, c.template.close(s.dev))
	}
	c.times = newFit(c.template.period(s.dev.Info().Multiprocessors, s.occupancy))
	s.cohorts = append(s.cohorts, c)
	return c, nil
}

// occupancy returns the resident blocks of a node's kernel on a multiprocessor: as the device reports it, or 1.
func (s *Server) occupancy(n *node) int {
	o, ok := s.dev.(interface {
		Occupancy(f device.Function, threads, shared int) (int, error)
	})
	if !ok || n.kernel == nil {
		return 1
	}
	blocks, err := o.Occupancy(n.kernel.function, int(n.launch.Block.Count()), int(n.launch.Shared))
	if err != nil {
		return 1
	}
	return blocks
}

// Reason returns why rounds of a tenant's cohort have one member, or "" if they have several.
func (s *Server) Reason(t *Tenant) string { return t.cohort.template.reason }

// Enqueue adds a request. Its Done is called when it has ended.
func (s *Server) Enqueue(r *Request) {
	s.arrived++
	r.sequence = s.arrived
	if r.Deadline == 0 {
		r.Deadline = Never
	}
	switch {
	case s.failed != nil:
		s.finish(r, r.Arrived, s.failed)
	case r.Tenant.fault != nil:
		s.finish(r, r.Arrived, r.Tenant.fault)
	case r.Tenant.gone:
		s.finish(r, r.Arrived, ErrRemoved)
	default:
		r.missed = r.Tenant.missed
		r.Tenant.cohort.arrive(r.Arrived)
		r.Tenant.cohort.waiting.push(r)
	}
}

// Cancel ends a request that waits, with an error. It returns false if the request is running or has ended.
func (s *Server) Cancel(r *Request, err error) bool {
	for _, found := range r.Tenant.cohort.waiting.remove(func(o *Request) bool { return o == r }) {
		s.finish(found, s.Now(), err)
		return true
	}
	return false
}

// Remove ends the waiting requests of a tenant with ErrRemoved, and waits for its running one.
func (s *Server) Remove(t *Tenant) error {
	if t.gone {
		return ErrRemoved
	}
	t.gone = true
	c := t.cohort
	for _, r := range c.waiting.remove(func(r *Request) bool { return r.Tenant == t }) {
		s.finish(r, s.Now(), ErrRemoved)
	}
	for slices.ContainsFunc(s.rounds, func(r *round) bool { return r.has(t) }) && s.failed == nil {
		if err := s.Await(context.Background(), Never); err != nil {
			return err
		}
	}
	c.members = slices.DeleteFunc(c.members, func(o *Tenant) bool { return o == t })
	c.search = straggler{}
	return device.Join(s.release(t), s.disband(c))
}

// disband frees a cohort that has no members left.
func (s *Server) disband(c *cohort) error {
	at := slices.Index(s.cohorts, c)
	if at < 0 || len(c.members) > 0 { // a device that failed was replaced, or members are left
		return nil
	}
	s.cohorts = slices.Delete(s.cohorts, at, at+1)
	return s.closeCohort(c)
}

// closeCohort frees what a cohort has on the device, apart from its members.
func (s *Server) closeCohort(c *cohort) error {
	var errs []error
	for _, g := range c.supers {
		s.cached -= g.bytes
		errs = append(errs, g.close(s.dev))
	}
	errs = append(errs, c.template.close(s.dev), s.dev.DestroyStream(c.stream))
	return device.Join(errs...)
}

// release frees what the server has allocated for a tenant.
func (s *Server) release(t *Tenant) error {
	err := t.plain.Close() // nil is closed
	if t.row != 0 {
		err = device.Join(err, s.dev.Free(t.row))
	}
	if t.program != nil {
		err = device.Join(err, t.trace.Close())
	}
	t.plain, t.row = nil, 0
	return err
}

// Busy reports whether requests wait or run.
func (s *Server) Busy() bool {
	return len(s.rounds) > 0 || slices.ContainsFunc(s.cohorts, func(c *cohort) bool { return c.waiting.len() > 0 })
}

// finish ends a request.
func (s *Server) finish(r *Request, at time.Duration, err error) {
	s.stats.Requests++
	r.end(at, err)
}

// Close ends the waiting requests with ErrClosed, waits for the running ones and frees everything.
func (s *Server) Close() error {
	for _, c := range s.cohorts {
		for _, r := range c.waiting.remove(func(*Request) bool { return true }) {
			s.finish(r, s.Now(), ErrClosed)
		}
	}
	var errs []error
	for len(s.rounds) > 0 && s.failed == nil {
		if err := s.Await(context.Background(), Never); err != nil {
			errs = append(errs, err)
			break
		}
	}
	for _, c := range s.cohorts {
		for _, t := range c.members {
			errs = append(errs, s.release(t))
		}
		errs = append(errs, s.closeCohort(c))
	}
	for _, r := range append(s.free, s.rounds...) {
		for _, e := range []device.Event{r.begin, r.end} {
			if e != 0 {
				errs = append(errs, s.dev.DestroyEvent(e))
			}
		}
	}
	s.cohorts, s.rounds, s.free = nil, nil, nil
	if s.owned {
		errs = append(errs, s.dev.Close())
	}
	if s.failed != nil { // the device refuses all calls
		return s.failed
	}
	return device.Join(errs...)
}
