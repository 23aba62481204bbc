// Package cluster runs one traced step on several GPUs and processes. The step is recorded as for one device, and nothing is
// declared about several: which bytes each block of a launch accesses follows from its PTX.
//
//	err := cluster.Run(ctx, "h200-4", cluster.Simulated, func(rank *cluster.Rank) error {
//		t := rank.Record("step") // as reprise.Record
//		// ... allocate and launch as for one device ...
//		trace, err := t.Finish()
//		plan, err := rank.Compile(ctx, trace, cluster.Options{})
//		err = cluster.Write(plan, u, data)
//		err = plan.Run(ctx, 1000)
//		return cluster.Read(ctx, plan, data, u)
//	})
//
// Compile cuts each launch into chunks of blocks, one for each device, and finds the transfers that the chunks need. All
// ranks record the same step and call the same methods in the same order: the processes of mpirun, or goroutines of [Run].
// docs/CLUSTER.md leads from a program to a run with mpirun.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/transport/mpi"
	"github.com/reprise-gpu/reprise/ir"
)

type (
	// Rank is one process of a machine: its devices and its connection to the other ranks. Record begins a trace, Compile
	// distributes it, Number and Size identify the rank, and Close ends its use. Only one goroutine may use a Rank and its
	// plans.
	Rank = ranks.Rank
	// Plan is a step that is distributed to all devices. Write, Run, RunUntil and Read use it; String and Why describe
	// it. An error of a run ends it on all ranks, and the plan can then only be closed.
	Plan = ranks.Plan
	// Condition ends Plan.RunUntil: a scalar in memory of the devices compares to a value.
	Condition = ir.Condition
	// Result is how Plan.RunUntil has ended.
	Result = ranks.Result
	// Options select how a step is distributed. The zero value is the default.
	Options = ranks.Options
	// MemoryError reports that a device has too little memory for a plan, with a table of its buffers.
	MemoryError = distribute.MemoryError
	// LostError reports that another rank has failed or is lost, and why.
	LostError = transport.LostError
)

// Endings of a run.
const (
	Exhausted  = ranks.Exhausted  // the largest number of steps was run
	Met        = ranks.Met        // the condition holds
	NotANumber = ranks.NotANumber // the scalar is NaN
)

// Devices selects what the devices of a machine are.
type Devices uint8

const (
	// Simulated devices, links and network, in virtual time.
	Simulated Devices = iota
	// GPUs of this computer: the first ranks of a node have the first GPUs. It requires a build with the tag cuda.
	GPUs
)

// Open opens the devices of this process's rank and connects it with the other ranks. machine is the name of a built-in
// machine or the path of a machine file (docs/MACHINE.md), and must have as many ranks as mpirun has started processes, or
// one rank without mpirun.
func Open(ctx context.Context, machineName string, on Devices) (*Rank, error) {
	m, err := machine.Lookup(machineName)
	if err != nil {
		return nil, err
	}
	t, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return open(m, t, on)
}

// connect returns the transport of a process: MPI if mpirun has started it.
func connect(ctx context.Context) (transport.Transport, error) {
	if mpi.Launched() {
		return mpi.Open(ctx, mpi.Options{})
	}
	return transport.Local(1)[0], nil
}

// open opens the devices of a rank.
func open(m *machine.Machine, t transport.Transport, on Devices) (_ *Rank, err error) {
	defer func() {
		if err != nil {
			t.Abort(err)
			err = errors.Join(err, t.Close())
		}
	}()
	if t.Rank() >= len(m.Ranks) {
		return nil, fmt.Errorf("machine %s has %d ranks, and %d processes were started: start as many as it has ranks", m.ID, len(m.Ranks), t.Size())
	}
	list, err := openDevices(m, t.Rank(), on)
	if err != nil {
		return nil, err
	}
	r, err := ranks.New(m, t, list, func() error { return closeAll(list) })
	if err != nil {
		return nil, errors.Join(err, closeAll(list))
	}
	return r, nil
}

// Run calls f for the rank of this process, as Open would return it, and closes the rank. If mpirun has not started this
// process and the devices are simulated, Run calls f for each rank of the machine, in goroutines of this process, and returns
// when all have returned; the error is that of the rank that failed.
func Run(ctx context.Context, machineName string, on Devices, f func(*Rank) error) error {
	m, err := machine.Lookup(machineName)
	if err != nil {
		return err
	}
	if len(m.Ranks) > 1 && on == Simulated && !mpi.Launched() {
		return inProcess(m, f)
	}
	r, err := Open(ctx, machineName, on)
	if err != nil {
		return err
	}
	return use(r, f)
}

// use calls f and closes the rank. An error ends the run on all ranks.
func use(r *Rank, f func(*Rank) error) error {
	err := f(r)
	if err != nil {
		r.Abort(err)
	}
	return errors.Join(err, r.Close())
}

// inProcess runs all ranks of a simulated machine in goroutines.
func inProcess(m *machine.Machine, f func(*Rank) error) error {
	errs := make([]error, len(m.Ranks))
	var all sync.WaitGroup
	for i, t := range transport.Local(len(m.Ranks)) {
		all.Go(func() {
			r, err := open(m, t, Simulated)
			if err == nil {
				err = use(r, f)
			}
			errs[i] = err
		})
	}
	all.Wait()
	return cause(errs)
}

// cause returns the error of the rank that failed by itself. The others report that it is lost.
func cause(errs []error) error {
	lost := &LostError{}
	var any error
	for _, err := range errs {
		if err != nil && !errors.As(err, &lost) {
			return err
		}
		any = errors.Join(any, err)
	}
	return any
}
