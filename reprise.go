// Package reprise records the inner loop of a GPU program once and replays it many times, as one CUDA graph or as a
// schedule over several streams.
//
// A program allocates buffers and launches kernels through a [Tracer]. What each kernel reads and writes is inferred from
// its PTX, so that nothing has to be declared:
//
//	dev, err := reprise.Open("sim")                        // a simulated H200; "gpu0" with the build tag cuda
//	t := reprise.Record(dev, "smooth")
//	k := t.Module("smooth.ptx", ptx).Kernel("smooth")
//	u := t.Alloc("u", reprise.F32, n, reprise.InOut)
//	v := t.Alloc("v", reprise.F32, n, reprise.Temporary)
//	t.Launch(k, reprise.Linear(n/256, 256), u, v, n)
//	t.Launch(k, reprise.Linear(n/256, 256), v, u, n)
//	trace, err := t.Finish()
//
//	exec, err := reprise.Compile(dev, trace, reprise.Options{})
//	err = reprise.Write(u, data)                           // before the first replay
//	err = exec.ReplayN(ctx, 1000)                          // one call into the driver, no allocation
//	err = exec.Wait(ctx)
//	err = reprise.Read(data, u)
//
// [CompileLoop] repeats a trace until a scalar on the device ends the loop. [Auto] needs no trace: it runs every call at
// once, finds what the program repeats, and replays that.
//
// The types are those of the packages below, under shorter names: tracer records, optimizer plans, graphexec replays, and
// device is the contract that a GPU and its simulation fulfil. A program that needs more than this package imports those
// beside it.
package reprise

import (
	"fmt"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/tracer"
)

// Device runs the work. See [device.Device].
type Device = device.Device

// Open opens a device: "" or "sim" simulates an H200, "sim:PROFILE" another GPU, "sim:FILE.json" that of a profile file, and
// "gpu0" is the first GPU of the machine, for which a program has to be built with the tag cuda. A device is used by one
// goroutine at a time.
func Open(id string) (Device, error) { return open(id, sim.Options{}) }

// OpenChecked opens a simulated device that also looks for races: two operations that touch the same bytes in no order,
// two threads of a block that do, and reads of memory that was never written. What it finds is an error of the next call
// that waits. Work takes the same virtual time, and up to three times the time of the host.
func OpenChecked(id string) (Device, error) {
	if _, gpu := devices.Ordinal(id); gpu {
		return nil, fmt.Errorf("%s is a GPU, and only a simulated device looks for races: use sim, or Open", id)
	}
	return open(id, sim.Options{Race: sim.RaceOn})
}

func open(id string, o sim.Options) (Device, error) {
	if id == "" {
		id = devices.Default
	}
	return devices.Open(id, o)
}

// Record begins a trace: calls of the tracer are recorded and do not run.
func Record(dev Device, name string) *Tracer { return tracer.New(dev, name, tracer.Deferred) }

// Auto begins a program that is not recorded: each call runs at once, and what the program repeats is replayed from the
// third time on, with buffers that change places and scalars that change. [Tracer.AutoStats] says how often.
func Auto(dev Device, name string) *Tracer { return auto.New(dev, name, auto.Options{}) }
