package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// Options are the limits of the transport, and how it uses MPI.
type Options struct {
	transport.Options
	// Funneled restricts MPI to MPI_THREAD_FUNNELED: one thread makes all calls, and calls of others are handed over to it,
	// which takes some microseconds each. By default, MPI_THREAD_SERIALIZED is requested. Where MPI grants less, the
	// transport behaves as if Funneled was set.
	Funneled bool
	// Communicator is the Fortran handle (MPI_Comm_c2f) of the communicator whose ranks take part; 0 is MPI_COMM_WORLD. It
	// is duplicated.
	Communicator int32
}

// Launched reports whether a launcher of MPI, such as mpirun or srun, has started this process.
func Launched() bool {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// opened is set while a transport is open, and stays so after a failure. The library has one communicator.
var opened atomic.Bool

// Open initialises MPI and connects all ranks. It is collective. If the host program has initialised MPI, Open uses it as
// it is, and Close does not finalise it; where the host requested less than MPI_THREAD_SERIALIZED, all calls must then
// come from the thread that initialised it. Otherwise Close finalises MPI, and MPI cannot be opened again.
//
// While a transport is open that has initialised MPI, SIGTERM ends it first, so that the program can report which rank is
// lost, and the process a moment later. mpirun sends this signal to all ranks after one has been lost.
func Open(ctx context.Context, o Options) (transport.Transport, error) {
	o.Options = o.WithDefaults()
	e, err := loadEngine()
	if err != nil {
		return nil, err
	}
	if !opened.CompareAndSwap(false, true) {
		return nil, errors.New("a transport over MPI is open or has failed in this process: only one can be open, and none after a failure")
	}
	t, err := open(ctx, e, o)
	if err != nil {
		opened.Store(false)
		return nil, err
	}
	return t, nil
}

func open(ctx context.Context, e engine, o Options) (*ranked, error) {
	t := &ranked{caller: caller{engine: e, hosted: e.hosted()}, limits: o.Options, last: map[pair]int{}}
	result := t.initialise(o)
	if result < 0 {
		return nil, fmt.Errorf("MPI cannot be opened: %s", e.text(result))
	}
	t.control = newControl(t.rank, t.size, o.Options, t.activity)
	if err := t.control.connect(ctx, func(mine []byte) ([][]byte, error) { return t.gather(ctx, opening, mine) }); err != nil {
		return nil, fmt.Errorf("MPI was initialised, and the ranks cannot watch each other: %w", err)
	}
	t.control.serve()
	if !t.hosted {
		t.signals = watchSignals(t.control)
	}
	return t, nil
}
