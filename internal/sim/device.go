package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// Options configures a simulated device. The zero value is an H200.
type Options struct {
	// Profile is the ID of a device profile, or the path of a profile file (docs/PROFILE.md), which ends in .json. ""
	// means "h200".
	Profile string
	// Custom, if not nil, is used instead of Profile. Its figures have the same bounds as those of files
	// (docs/PROFILE.md). The error for a figure out of bounds is model.ErrProfile.
	Custom *model.Profile
	// Memory is the size of device memory in bytes; 0 means that of the profile. The simulator needs host memory only
	// for allocations in use.
	Memory int64
	// Workers is the maximum number of goroutines that run the blocks of a launch; 0 means one per processor. It
	// affects neither results nor virtual times.
	Workers int
	// Memo selects whether launches may reuse the results of earlier equal ones. It affects neither results nor
	// virtual times.
	Memo Memo
	// MemoBytes bounds the size of the stored results; 0 means 512 MiB.
	MemoBytes int64
	// Stdout receives the output of printf when the host waits for the device; nil means os.Stdout.
	Stdout io.Writer
	// Race selects whether races and reads of uninitialised memory are detected.
	Race Race
	// Sample, if positive, is the number of blocks that are run of each launch, spread over its grid. Their
	// statistics are scaled to the whole grid. The results of launches are then meaningless. Times of regular kernels
	// are within 3 % of those of whole runs, times of irregular ones within 25 %
	// (TestSampledTimesAreCloseToWholeOnes).
	//
	// Cooperative launches run whole. Write and Read copy their bytes, because data from the host may steer kernels.
	// Copies and fills in streams and graphs that exceed 4096 bytes are only timed. A repeated launch is not run
	// again unless the host has written new bytes, by Write or by a small copy, to memory that it accesses. Memory
	// that is never accessed costs no host memory.
	Sample int64
	// StepLimit is the maximum number of warp instructions of one block; a launch that exceeds it fails with a
	// timeout, as an endless loop should. 0 means 1<<31, minutes of host time.
	StepLimit int64
	// On is the GPU on which the device is a context; several contexts can share a GPU. nil creates a GPU of Memory
	// bytes for this device alone.
	On *GPU
	// LoopLimit is the maximum number of iterations of a while node; a launch that exceeds it fails with a timeout,
	// as an endless loop should. 0 means 1<<24, minutes of host time.
	LoopLimit int64
	// Poison fills new device memory and new pinned memory with PoisonWord instead of zeros, so that a program that
	// forgets to write or to transfer data computes visibly wrong results. Each allocation then costs host memory.
	Poison bool
	// Outside, if not nil, lets several callers take turns on the device. It must release the caller's exclusive
	// access, run the function, and acquire the access again. Waits use it, and host calls run on goroutines of their
	// own. Without Outside the device has one caller at a time, and a host call must not call it.
	Outside func(func())
	// Trace, if not nil, is called for each piece of work, in order of its end. It must not call the device.
	Trace func(Span)
}

// Device is a simulated GPU. It is a device.Device and a device.Accounter.
type Device struct {
	info    device.Info
	profile *model.Profile
	engine  *des.Engine
	*sharedTime

	gpu      *GPU
	memory   *interp.Memory
	workers  int // maximum number of goroutines per launch
	sample   int64
	steps    int64 // limit per block; 0 means the interpreter's default
	loops    int64 // maximum number of iterations of a loop
	poisoned bool  // new memory is poisoned
	printed  fifo
	live     device.Live // Bytes and Allocations only
	ledger   contract.Allocations
	memo     *memo
	races    *races // nil if races are not detected
	count    Counters
	l2       *des.Cache
	history  history
	uses     []des.Use // scratch of traffic
	extents  []interp.Extent
	trace    func(Span)

	modules contract.Handles[device.Module, *module]
	funcs   contract.Handles[device.Function, *kernel]
	streams contract.Handles[device.Stream, *stream]
	events  contract.Handles[device.Event, *event]
	graphs  contract.Handles[device.Graph, *graph]
	execs   contract.Handles[device.GraphExec, *exec]
	lists   contract.Handles[device.CommandList, *list]
	arrays  contract.Handles[texel.Array, *array]

	legacy         *stream    // created on first use
	busy           []*stream  // blocking streams with work that the legacy stream does not follow yet
	epoch          int64      // counts tasks of the legacy stream
	fences         int64      // see PrecedeAll
	fenced         des.TaskID // task of the latest fence
	conditions     map[device.Condition]*condition
	conditionNames int          // number of conditions created so far
	unused         []*condition // conditions whose words are freed once all work has ended

	graphMemory      map[device.Ptr]*graphMemory
	graphMemoryNames int // number of addresses reserved so far
	graphUse         GraphMemory
	idle             []*graphMemory // addresses that no graph uses any more

	deps   []des.TaskID  // scratch of enqueue
	spare  []*job        // jobs that can be reused
	fault  *device.Error // the fault that poisoned the device
	failed *device.Error // error of the first failed host call, until a waiting call returns it

	outside func(func())
	waiting int  // number of calls that have let other callers in
	closed  bool // closed, or being closed
}

// New returns a simulated device. It returns an error for an unknown profile and for options that exclude each other.
func New(o Options) (*Device, error) {
	p := o.Custom
	if p == nil {
		var err error
		if p, err = profiles.Lookup(orDefault(o.Profile, "h200")); err != nil {
			return nil, fmt.Errorf("sim: %w", err)
		}
	} else if err := profiles.Check(p); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	if o.Race == RaceOn && o.Sample > 0 {
		return nil, errors.New("sim: Race and Sample exclude each other: a sampled launch runs only some of its blocks")
	}
	on := o.On
	if on == nil {
		on = NewSystem().GPU(orDefault(o.Memory, p.MemoryBytes))
	}
	d := &Device{
		profile:    p,
		gpu:        on,
		sharedTime: on.system.time,
		trace:      o.Trace,
		outside:    o.Outside,
		poisoned:   o.Poison,
		workers:    o.Workers,
		steps:      o.StepLimit,
		loops:      orDefault(o.LoopLimit, defaultLoopLimit),
		sample:     o.Sample,
		printed:    fifo{out: orDefault(o.Stdout, io.Writer(os.Stdout)), capacity: printLimit},
		l2:         des.NewCache(p),
		memo:       newMemo(o.Memo, orDefault(o.MemoBytes, defaultMemoBytes), o.Sample > 0),
		modules:    contract.Handles[device.Module, *module]{Kind: "module"},
		funcs:      contract.Handles[device.Function, *kernel]{Kind: "function"},
		streams:    contract.Handles[device.Stream, *stream]{Kind: "stream"},
		events:     contract.Handles[device.Event, *event]{Kind: "event"},
		graphs:     contract.Handles[device.Graph, *graph]{Kind: "graph"},
		execs:      contract.Handles[device.GraphExec, *exec]{Kind: "graph exec"},
		lists:      contract.Handles[device.CommandList, *list]{Kind: "command list"},
		arrays:     contract.Handles[texel.Array, *array]{Kind: "array"},
		info:       infoOf(p, on.bank.Size()),
	}
	d.memory = on.open(d)
	d.races = newRaces(o.Race, d.memory, &d.order)
	d.engine = d.clock.Engine(p, d.start)
	d.engine.OnEnd(d.ended)
	return d, nil
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func infoOf(p *model.Profile, memory int64) device.Info {
	return device.Info{
		Name: p.Name, ID: "sim:" + p.ID, Simulated: true, Instance: device.NextInstance(),
		ComputeMajor: p.ComputeMajor, ComputeMinor: p.ComputeMinor,
		Multiprocessors: p.SMs, ClockMHz: int(p.ClockMHz),
		MemoryBytes: memory, MemoryGBps: p.MemoryGBps, L2Bytes: p.L2Bytes,
		MaxThreads: p.Limits.ThreadsPerBlock, MaxShared: p.Limits.SharedPerBlock,
		LeastPriority: leastPriority, GreatestPriority: greatestPriority,
	}
}

// The range of stream priorities, as drivers report it for recent devices.
const (
	leastPriority    = 0
	greatestPriority = -5
)

// Sample returns the number of blocks that are run of each launch, 0 for all.
func (d *Device) Sample() int64 { return d.sample }

// Profile returns the profile of the device. It must not be modified.
func (d *Device) Profile() *model.Profile { return d.profile }

// Info describes the simulated device.
func (d *Device) Info() device.Info { return d.info }

// Now returns the virtual time of the host.
func (d *Device) Now() time.Duration {
	d.settled()
	return duration(d.host)
}

func duration(t model.Time) time.Duration { return time.Duration(t / model.Nanosecond) }

// Live returns the number of live resources, by kind.
func (d *Device) Live() device.Live {
	d.settled()
	l := d.live
	l.Modules, l.Streams, l.Events = d.modules.Len(), d.streams.Len(), d.events.Len()
	if d.legacy != nil {
		l.Streams-- // the legacy stream cannot be destroyed
	}
	l.Graphs, l.Execs, l.Lists = d.graphs.Len(), d.execs.Len(), d.lists.Len()
	return l
}

// enter starts a call: it charges the host the given time, and returns an error if the device cannot be called.
func (d *Device) enter(cost model.Time) *device.Error {
	d.settled()
	switch {
	case d.closed:
		return &device.Error{Code: device.Deinitialized, Detail: "the device has been closed"}
	case d.inside != nil:
		return &device.Error{Code: device.NotSupported,
			Detail: fmt.Sprintf("host call %q calls the device; a host call must not", d.inside.label)}
	}
	d.host = des.Plus(d.host, cost)
	return d.poison()
}

// poison returns the fault that every call returns, or nil. The result is a copy, because each caller adds its own
// name.
func (d *Device) poison() *device.Error {
	if d.fault == nil {
		return nil
	}
	err := *d.fault
	return &err
}

// Err returns the fault that every call returns, or nil as long as no call has returned one.
func (d *Device) Err() error {
	d.settled()
	return d.poison().In("Err")
}

// first returns the first error that is not nil.
func first(errs ...*device.Error) *device.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// drain waits for all work.
func (d *Device) drain() *device.Error {
	end := d.engine.Next()
	d.waited(d.drained())
	d.emptied(end)
	return d.poison()
}

// emptied is called after the host has waited for the tasks before end. It frees resources that live only until the
// device is idle, unless another caller has enqueued more work.
func (d *Device) emptied(end des.TaskID) {
	d.races.drained(d, end)
	if d.engine.Idle() {
		d.sweep()
		d.relinquish()
	}
}

// waited advances the host's clock after a wait for work that ended at t.
func (d *Device) waited(t model.Time) {
	d.host = des.Plus(max(d.host, t), d.profile.Host.Synchronize)
	d.retire()
}

// retire drops the records of ended tasks and writes the output of printf.
func (d *Device) retire() {
	d.engine.Retire()
	d.printed.flush()
}

// Close waits for all work and for waiting calls of other callers, then frees everything. Calls that start meanwhile
// or later are refused.
func (d *Device) Close() error {
	d.settled()
	if d.closed || d.inside != nil {
		return d.enter(0).In("Close")
	}
	d.closed = true
	for d.finish(); d.waiting > 0; d.finish() {
		d.outside(func() { time.Sleep(pollEvery) })
	}
	d.printed.flush()
	d.forgetEvents()
	err := d.unreported("Close")
	d.gpu.close(d)
	// The empty memory lets later calls check their operands before they report that the device has been closed.
	*d = Device{info: d.info, profile: d.profile, sharedTime: d.sharedTime, count: d.count, races: d.races.closed(d), closed: true,
		gpu: NewSystem().GPU(0), memory: interp.NewMemory(0)}
	return err
}

// forgetEvents marks the events as destroyed, for command lists of other devices.
func (d *Device) forgetEvents() {
	for _, h := range d.events.All() {
		e, _ := d.events.Get(h)
		e.gone = true
	}
}

// finish waits for all work, including work of other devices that uses the memory.
func (d *Device) finish() {
	d.host = max(d.host, d.drained())
	d.catchUp()
}
