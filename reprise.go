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
//	t.Launch(k, reprise.Linear((n+255)/256, 256), u, v, n)
//	t.Launch(k, reprise.Linear((n+255)/256, 256), v, u, n)
//	trace, err := t.Finish()
//
//	exec, err := reprise.Compile(dev, trace, reprise.Options{})
//	err = reprise.Write(u, data)                           // before the first replay
//	err = exec.ReplayN(ctx, 1000)                          // one call into the driver, no allocation
//	err = exec.Wait(ctx)
//	err = reprise.Read(data, u)
//
// Calls of a Tracer return no error: the first error makes all later calls do nothing, and Finish returns it with the line
// of the call. Close the Exec before the trace, and the trace before the device.
//
// [CompileLoop] repeats a trace until a scalar on the device ends the loop. [Auto] needs no trace: it runs each call at
// once, detects repetitions, and replays them.
//
// The types are aliases of those of the packages below: tracer records, optimizer plans, graphexec replays, and device
// is the interface that a GPU and its simulation implement. Their methods are documented there:
//
//	go doc github.com/reprise-gpu/reprise/tracer.Tracer
//	go doc github.com/reprise-gpu/reprise/graphexec.Exec
//	go doc github.com/reprise-gpu/reprise/graphexec/loop.Exec
//
// A program that needs more than this package also imports those. For example, ir.Format(trace.Graph, nil) returns the text
// of a trace that reprise opt and reprise strategies read.
package reprise

import (
	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/tracer"
)

// Device runs work on a GPU or simulates it. See [device.Device].
type Device = device.Device

// Open opens a device: "" or "sim" simulates an H200, "sim:PROFILE" another GPU, and "sim:FILE.json" the GPU of a profile
// file. "gpu0" is the first GPU of the machine; it requires a build with the tag cuda and the variables that the command
// reprise cgo-env prints. A device must not be used by two goroutines at the same time.
func Open(id string) (Device, error) { return open(id, sim.Options{}) }

// OpenChecked opens a simulated device that also detects unordered operations that access the same bytes, threads of a
// block that do so in shared memory, and reads of memory that was never written. The next call that waits returns the
// error. Races in global memory between threads of one launch are not detected. Virtual times do not change; the host
// takes up to three times as long. OpenChecked returns an error if id is a GPU.
func OpenChecked(id string) (Device, error) {
	if _, gpu := devices.Ordinal(id); gpu {
		return nil, sentinel.Errorf(sentinel.ErrUnsupported, "%s is a GPU, and only a simulated device detects races: use sim, or Open instead of OpenChecked", id)
	}
	return open(id, sim.Options{Race: sim.RaceOn})
}

func open(id string, o sim.Options) (Device, error) {
	if id == "" {
		id = devices.Default
	}
	return devices.Open(id, o)
}

// Record begins a trace: calls of the tracer are recorded and not run. Only replays run them, so [Read] before the first
// replay returns what [Write] wrote.
func Record(dev Device, name string) *Tracer { return tracer.New(dev, name, tracer.Deferred) }

// Auto begins a program that is not recorded. Each call runs at once; a repetition is replayed from its third occurrence
// on, even if scalars change or buffers are exchanged. [AutoStats] counts the replayed calls.
func Auto(dev Device, name string) *Tracer { return auto.New(dev, name, auto.Options{}) }

// AutoStats returns what became of the calls of a program from [Auto] so far. The result is zero for a tracer from
// [Record].
func AutoStats(t *Tracer) auto.Stats { return auto.StatsOf(t) }
