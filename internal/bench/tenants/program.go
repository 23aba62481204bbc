package tenants

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Program is what every tenant runs.
type Program struct {
	Name    string
	Batched bool // New takes a batch of more than 1
	// New makes an instance of the program. The seed selects its inputs, and batch is the number of requests that one
	// run serves.
	New func(dev device.Device, seed uint64, batch int) (*Instance, error)
}

// Instance is a program with memory of its own.
type Instance struct {
	Graph *ir.Graph
	Bound traced.Bindings
	Flops float64      // floating-point operations of a run; 0 if they are not counted
	Reset func() error // writes the inputs and makes the outputs invalid
	Check func() error // compares the outputs of the last run with what is expected
	Close func() error
}

// OfWorkload returns the program of a workload with the given parameters.
func OfWorkload(w *bench.Workload, p bench.Params) Program {
	return Program{Name: w.Name, Batched: w.Batched, New: func(dev device.Device, seed uint64, batch int) (*Instance, error) {
		p := p
		p.Seed = seed
		if w.Batched {
			p.Batch = batch
		}
		in, err := w.New(dev, p)
		if err != nil {
			return nil, err
		}
		check := func() error {
			_, err := in.Check()
			return err
		}
		return &Instance{
			Graph: in.Trace.Graph, Bound: traced.BindingsOf(in.Trace), Flops: in.Flops(),
			Reset: in.Reset, Check: check, Close: in.Close,
		}, nil
	}}
}
