package ranks_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/tracer"
)

// program is a program for the tests: build records a step, and contents has the bytes of each buffer before the first one.
type program struct {
	name     string
	build    func(t *tracer.Tracer) []tracer.Buffer
	contents func(b int) []byte
	steps    int
	together bool // one call runs all steps, and stale bytes are not overwritten in between
}

// simulated opens the devices of a rank.
func simulated(m *machine.Machine, rank int) ([]device.Device, func() error, error) {
	sys := sim.NewSystem()
	var list []device.Device
	for _, d := range m.Ranks[rank].Devices {
		dev, err := sim.New(sim.Options{Custom: d.Profile, On: sys.GPU(d.Memory), Race: sim.RaceOn})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, dev)
	}
	return list, func() (err error) {
		for _, d := range list {
			if e := d.Close(); err == nil {
				err = e
			}
		}
		return err
	}, nil
}

// onMachine runs a function for each rank of a machine, in one process.
func onMachine(t testing.TB, m *machine.Machine, f func(r *ranks.Rank) error) []error {
	transports := transport.Local(len(m.Ranks))
	errs := make([]error, len(transports))
	var all sync.WaitGroup
	for i, tr := range transports {
		all.Go(func() {
			errs[i] = func() error {
				devices, closing, err := simulated(m, i)
				if err != nil {
					return err
				}
				r, err := ranks.New(m, tr, devices, closing)
				if err != nil {
					return err
				}
				if err = f(r); err != nil {
					tr.Abort(err)
				}
				if e := r.Close(); err == nil {
					err = e
				}
				return err
			}()
		})
	}
	all.Wait()
	return errs
}

// distributed runs a program on a machine and returns the contents of its buffers, the same on all ranks.
func (p *program) distributed(t testing.TB, m *machine.Machine, o ranks.Options) [][]byte {
	results := make([][][]byte, len(m.Ranks))
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record(p.name)
		buffers := p.build(tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		plan, err := r.Compile(context.Background(), trace, o)
		if err != nil {
			return err
		}
		defer plan.Close()
		for i, b := range buffers {
			if err := plan.Write(b.Range(), p.contents(i)); err != nil {
				return err
			}
		}
		if err := p.run(plan); err != nil {
			return err
		}
		for _, b := range buffers {
			data := make([]byte, b.Bytes())
			if err := plan.Read(context.Background(), data, b.Range()); err != nil {
				return err
			}
			results[r.Number()] = append(results[r.Number()], data)
		}
		return plan.Close()
	}) {
		require.NoError(t, err)
	}
	for _, r := range results {
		require.Equal(t, results[0], r, "all ranks read the same bytes")
	}
	return results[0]
}

// run runs all steps. After each, unless they run together, it overwrites the bytes that are stale.
func (p *program) run(plan *ranks.Plan) error {
	if p.together {
		return plan.Run(context.Background(), p.steps)
	}
	for range p.steps {
		if err := plan.Run(context.Background(), 1); err != nil {
			return err
		}
		if err := plan.PoisonStale(); err != nil {
			return err
		}
	}
	return nil
}

// alone runs a program on one device, in program order.
func (p *program) alone(t testing.TB) [][]byte {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	tr := tracer.New(dev, p.name, tracer.Deferred)
	buffers := p.build(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{Strategy: "serial"})
	require.NoError(t, err)
	defer exec.Close()
	for i, b := range buffers {
		require.NoError(t, tracer.Write(b, p.contents(i)))
	}
	require.NoError(t, exec.ReplayN(context.Background(), p.steps))
	var results [][]byte
	for _, b := range buffers {
		data := make([]byte, b.Bytes())
		require.NoError(t, tracer.Read(data, b))
		results = append(results, data)
	}
	return results
}

// words returns n seeded words.
func words(n int, seed uint32) []byte {
	out := make([]byte, 0, 4*n)
	for range n {
		seed = seed*1664525 + 1013904223
		out = binary.LittleEndian.AppendUint32(out, seed>>8)
	}
	return out
}
