package tenancy

import (
	"cmp"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Tenant is a program with memory of its own.
type Tenant struct {
	Name    string
	cohort  *cohort
	trace   *tracer.Trace // nil for a tenant of a graph
	graph   *ir.Graph
	bound   traced.Bindings
	memory  footprint
	program Program         // nil for a tenant of a trace
	row     device.Ptr      // its arguments in device memory; 0 if its cohort has no super-graphs
	plain   *graphexec.Exec // the program alone; nil before the first use
	stamp   int             // see queue
	missed  int             // rounds that began without it while a request of it waited
	gone    bool
	fault   error // of its kernels; the tenant is gone
	alone   int   // rounds that it still runs alone, as a straggler
	spell   int   // length of the last such spell
}

// Address implements lower.Values.
func (t *Tenant) Address(b ir.BufferID) device.Ptr { return t.bound.Pointer(b) }

// Value implements lower.Values. A parameter has the value of the trace.
func (t *Tenant) Value(p ir.ParamID) ir.Scalar { return t.graph.Params[p].Value }

// Alone reports whether the tenant runs alone at present because it is slower than its cohort.
func (t *Tenant) Alone() bool { return t.alone > 0 }

// Cohort returns a number that tenants of equal programs share.
func (t *Tenant) Cohort() int { return t.cohort.number }

// Request is one run of a tenant's program.
type Request struct {
	Tenant   *Tenant
	Arrived  time.Duration // on the device's clock
	Deadline time.Duration // latest end; Never if there is none
	// Before and After run on the goroutine of the server right before the run and right after it, on an idle device.
	// They may be nil.
	Before, After func(*tracer.Trace) error

	// Set when the request has ended.
	Ended    time.Duration // end of the round on the device's clock
	Launched time.Duration // time at which the host launched the round
	Members  int           // requests in the round
	Err      error

	Done func(*Request) // called when the request has ended; may be nil
	// missed is that of the tenant at the arrival. sequence counts the requests as they were enqueued.
	missed, sequence int
}

// compare orders requests as they are served: the earliest deadline first, then the earliest arrival, then the tenant that
// was left over most often. Without the last, tenants that submit at the same time would be left over in a fixed order.
func (r *Request) compare(o *Request) int {
	return cmp.Or(
		cmp.Compare(r.Deadline, o.Deadline), cmp.Compare(r.Arrived, o.Arrived),
		cmp.Compare(o.missed, r.missed), cmp.Compare(r.sequence, o.sequence),
	)
}

// Never is the deadline of a request without one.
const Never = never

// end reports the result of a request.
func (r *Request) end(at time.Duration, err error) {
	r.Ended, r.Err = at, err
	if r.Done != nil {
		r.Done(r)
	}
}
