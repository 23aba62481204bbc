//go:build cuda && cgo

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/reprise-gpu/reprise/cuda"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

func main() {
	var o options
	flag.StringVar(&o.peer, "peer", "", "the program compiled from peer/peer.cpp")
	flag.IntVar(&o.rounds, "rounds", 450, "turns of each side, in nine stretches")
	flag.DurationVar(&o.turn, "turn", time.Millisecond, "about how long a turn takes")
	flag.IntVar(&o.most, "ops", 10_000, "launches of the largest program")
	flag.StringVar(&o.shape, "shape", "", "measure one shape only")
	flag.Parse()
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	peer, shape  string
	rounds, most int
	turn         time.Duration
}

func (o *options) run(w io.Writer) (err error) {
	runtime.LockOSThread()
	if err := pin(); err != nil {
		return err
	}
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	if name := dev.Info().Name; name != "null" {
		return fmt.Errorf("the driver %s has the device %s, whose own time would hide what this measures: set REPRISE_LIBCUDA to libcudanull.so, as make bench-host does", lazycuda.Provider(), name)
	}
	rows, err := o.all(dev)
	if err != nil {
		return err
	}
	return report(w, rows)
}

func (o *options) all(dev device.Device) (all []row, err error) {
	for _, s := range shapes {
		if o.shape != "" && o.shape != s.name {
			continue
		}
		for ops := 10; ops <= o.most; ops *= 10 {
			rows, err := o.measure(dev, s, ops)
			if err != nil {
				return nil, fmt.Errorf("%s of %d launches: %w", s.name, ops, err)
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

// measure compares the two sides on one program, with either back end.
func (o *options) measure(dev device.Device, s shape, ops int) (rows []row, err error) {
	trace, plan, err := s.plan(dev, ops)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, trace.Close()) }()
	p, err := startPeer(o.peer, plan)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, p.close()) }()
	for _, form := range graphexec.Backends() {
		x, err := graphexec.Instantiate(dev, plan, trace, form)
		if err != nil {
			return nil, err
		}
		r := row{shape: s.name, ops: ops, lanes: plan.Lanes, form: form}
		err = sides{x, p}.measure(&r, o.rounds, o.turn)
		if err := device.Join(err, x.Close()); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// report prints the measurements. It returns an error if goals are missed.
func report(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, header)
	var missed []string
	for i := range rows {
		rows[i].print(t)
		missed = append(missed, rows[i].missed()...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if launch, event, ok := perCall(rows); ok {
		fmt.Fprintf(w, "a launch: C++ %.2f ns, Replay %.2f ns; a record or a wait: C++ %.2f ns, Replay %.2f ns (1000 launches)\n", launch[0], launch[1], event[0], event[1])
	}
	if len(missed) > 0 {
		return fmt.Errorf("goals missed:\n  %s", strings.Join(missed, "\n  "))
	}
	return nil
}
