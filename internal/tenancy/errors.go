package tenancy

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// Errors of requests.
var (
	ErrClosed  = sentinel.New(sentinel.ErrClosed, "the pool is closed")
	ErrRemoved = errors.New("the tenant was removed")
	ErrLost    = errors.New("a kernel of another tenant failed, and the memory of the device was lost: add the tenant as a program, which can be recorded again")
)

// DeadlineError is the error of a request that cannot end in time. It was not run.
type DeadlineError struct {
	Tenant string
	Needed time.Duration // predicted time of a run
	Left   time.Duration // time to the deadline when the error was returned; may be negative
}

func (e *DeadlineError) Error() string {
	return fmt.Sprintf("tenant %s: the run would take %v, and %v are left until its deadline: allow more time, or submit fewer requests", e.Tenant, e.Needed, e.Left)
}

// FaultError is the error of a request whose own work failed on the device.
type FaultError struct {
	Tenant string
	Err    error
}

func (e *FaultError) Error() string { return fmt.Sprintf("tenant %s: %v", e.Tenant, e.Err) }
func (e *FaultError) Unwrap() error { return e.Err }
