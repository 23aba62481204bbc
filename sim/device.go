package sim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// ErrProfile is in the chain of errors about figures of Options.Custom that are out of their bounds.
var ErrProfile = model.ErrProfile

// Options configures a simulated device; the zero value is an H200.
type Options struct {
	// Profile is the ID of a device profile, or the path of a file that holds one
	// (docs/PROFILE.md) and ends in .json; "" is "h200".
	Profile string
	// Custom is a profile of one's own, instead of Profile. Its figures have the bounds that those of files have
	// (docs/PROFILE.md); the error about others is ErrProfile.
	Custom *model.Profile
	// Memory is how many bytes of device memory there are; 0 is what the profile
	// has. The simulator needs host memory only for what is allocated.
	Memory int64
	// Workers is how many goroutines may run the blocks of a launch; 0 is one for
	// each processor. Neither bytes nor times depend on it.
	Workers int
	// Memo says whether launches may reuse the results of earlier, equal ones;
	// neither bytes nor times depend on it.
	Memo Memo
	// MemoBytes bounds the results kept; 0 is 512 MiB.
	MemoBytes int64
	// Stdout gets the output of printf when the host waits for the device; nil is
	// os.Stdout.
	Stdout io.Writer
	// Race says whether to look for races and for reads of what was never written.
	Race Race
	// Sample, when positive, is how many blocks of each launch are run, spread over
	// its grid; what they count stands for the whole, and the data that launches
	// leave are not what they would compute. Times of regular kernels come out
	// within 3 %, those of irregular ones within 25 % (TestSampledTimesAreCloseToWholeOnes).
	// Cooperative launches run whole. Copies and fills of more than a page that streams and
	// graphs run are timed and not made; Write and Read are, since what the host writes
	// may steer kernels. A launch that comes again is not run again, unless one of these, or a
	// smaller copy from the host, has brought other bytes to what it touches. Memory that
	// nothing touches costs the host none.
	Sample int64
	// StepLimit is how many warp instructions one block may issue before its launch
	// ends in a timeout, as an endless loop should; 0 is 1<<31, minutes of host time.
	StepLimit int64
	// On is the GPU that the device is a context of, which others share; nil makes one
	// for it alone, of Memory bytes.
	On *GPU
	// LoopLimit is how many iterations a while node may run before its launch ends in
	// a timeout, as an endless loop should; 0 is 1<<24, minutes of host time.
	LoopLimit int64
	// Outside, when set, runs a function while other callers of the device may go on:
	// it gives up what keeps them out, and takes it back. Callers wait so, and host calls
	// run on goroutines of their own. A device without it has one caller at a time, who
	// must not call it from a host call.
	Outside func(func())
	// Trace, when set, is called for all work in the order it ends. It must not
	// call the device.
	Trace func(Span)
}

// Device is a simulated GPU. It is a device.Device and a device.Accounter.
type Device struct {
	info    device.Info
	profile *model.Profile
	engine  *des.Engine
	*sharedTime

	gpu     *GPU
	memory  *interp.Memory
	workers int // of a launch
	sample  int64
	steps   int64 // of a block, 0 for the interpreter's own limit
	loops   int64 // iterations of a loop
	printed fifo
	live    device.Live // Bytes and Allocations only
	ledger  device.Allocations
	memo    *memo
	races   *races // nil when nobody looks for them
	count   Counters
	l2      *des.Cache
	history history
	uses    []des.Use // scratch of traffic
	extents []interp.Extent
	trace   func(Span)

	modules device.Handles[device.Module, *module]
	funcs   device.Handles[device.Function, *kernel]
	streams device.Handles[device.Stream, *stream]
	events  device.Handles[device.Event, *event]
	graphs  device.Handles[device.Graph, *graph]
	execs   device.Handles[device.GraphExec, *exec]
	lists   device.Handles[device.CommandList, *list]
	arrays  device.Handles[device.Array, *array]

	legacy         *stream    // nil until something asks for it
	busy           []*stream  // blocking streams with work that the legacy stream does not follow yet
	epoch          int64      // counts tasks of the legacy stream
	fences         int64      // see PrecedeAll
	fenced         des.TaskID // what the last fence is about
	conditions     map[device.Condition]*condition
	conditionNames int          // how many there have been
	unused         []*condition // whose words can be freed when all work has ended

	graphMemory      map[device.Ptr]*graphMemory
	graphMemoryNames int // how many there have been
	graphUse         GraphMemory
	idle             []*graphMemory // that no graph uses any more

	deps   []des.TaskID  // scratch of enqueue
	spare  []*job        // whose one run has ended
	fault  *device.Error // what poisoned the device
	failed *device.Error // of the first host call that went wrong, until a call that waits answers it

	outside func(func())
	waiting int  // calls that have let others in
	closed  bool // or being closed
}

// New returns a simulated device. It fails for an unknown profile, and for options
// that exclude each other.
func New(o Options) (*Device, error) {
	p := o.Custom
	if p == nil {
		var err error
		if p, err = model.Lookup(orDefault(o.Profile, "h200")); err != nil {
			return nil, fmt.Errorf("sim: %w", err)
		}
	} else if err := p.Check(); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	if o.Race == RaceOn && o.Sample > 0 {
		return nil, errors.New("sim: Race and Sample exclude each other: a sampled launch does not touch all that it would")
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
		workers:    o.Workers,
		steps:      o.StepLimit,
		loops:      orDefault(o.LoopLimit, defaultLoopLimit),
		sample:     o.Sample,
		printed:    fifo{out: orDefault(o.Stdout, io.Writer(os.Stdout)), most: printLimit},
		l2:         des.NewCache(p),
		memo:       newMemo(o.Memo, orDefault(o.MemoBytes, defaultMemoBytes), o.Sample > 0),
		modules:    device.Handles[device.Module, *module]{Kind: "module"},
		funcs:      device.Handles[device.Function, *kernel]{Kind: "function"},
		streams:    device.Handles[device.Stream, *stream]{Kind: "stream"},
		events:     device.Handles[device.Event, *event]{Kind: "event"},
		graphs:     device.Handles[device.Graph, *graph]{Kind: "graph"},
		execs:      device.Handles[device.GraphExec, *exec]{Kind: "graph exec"},
		lists:      device.Handles[device.CommandList, *list]{Kind: "command list"},
		arrays:     device.Handles[device.Array, *array]{Kind: "array"},
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

// Priorities that streams are clamped to, as drivers report them for recent
// devices.
const (
	leastPriority    = 0
	greatestPriority = -5
)

// Sample is how many blocks of a launch are run, 0 for all.
func (d *Device) Sample() int64 { return d.sample }

// Profile is what the device is simulated by. It is not to be changed.
func (d *Device) Profile() *model.Profile { return d.profile }

// Info describes the simulated device.
func (d *Device) Info() device.Info { return d.info }

// Now is the virtual clock of the host.
func (d *Device) Now() time.Duration {
	d.settled()
	return duration(d.host)
}

func duration(t model.Time) time.Duration { return time.Duration(t / model.Nanosecond) }

// Live counts what is allocated.
func (d *Device) Live() device.Live {
	d.settled()
	l := d.live
	l.Modules, l.Streams, l.Events = d.modules.Len(), d.streams.Len(), d.events.Len()
	if d.legacy != nil {
		l.Streams-- // nobody can destroy it
	}
	l.Graphs, l.Execs, l.Lists = d.graphs.Len(), d.execs.Len(), d.lists.Len()
	return l
}

// enter begins a call: it charges the host and says why the call cannot be made.
func (d *Device) enter(cost model.Time) *device.Error {
	d.settled()
	switch {
	case d.closed:
		return &device.Error{Code: device.Deinitialized, Detail: "the device has been closed"}
	case d.inside != nil:
		return &device.Error{Code: device.NotSupported,
			Detail: fmt.Sprintf("host call %q calls the device; a host call must not", d.inside.label)}
	}
	d.host = d.host.Plus(cost)
	return d.poison()
}

// poison is the fault that every call answers, or nil: a copy, since each
// caller puts its own name in.
func (d *Device) poison() *device.Error {
	if d.fault == nil {
		return nil
	}
	err := *d.fault
	return &err
}

// Err is the fault that every call answers since it surfaced, nil before.
func (d *Device) Err() error {
	d.settled()
	return d.poison().In("Err")
}

// first returns the first error there is.
func first(errs ...*device.Error) *device.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// drain waits for all work that there is.
func (d *Device) drain() *device.Error {
	end := d.engine.Next()
	d.waited(d.drained())
	d.emptied(end)
	return d.poison()
}

// emptied notes that the host has waited for the tasks before end, and ends what lasts only as long as the device has
// work if no other caller has enqueued more.
func (d *Device) emptied(end des.TaskID) {
	d.races.drained(d, end)
	if d.engine.Idle() {
		d.sweep()
		d.relinquish()
	}
}

// waited moves the host's clock to after a wait for what the device did by t.
func (d *Device) waited(t model.Time) {
	d.host = max(d.host, t).Plus(d.profile.Host.Synchronize)
	d.retire()
}

// retire forgets the tasks that have ended, and prints what they have printed.
func (d *Device) retire() {
	d.engine.Retire()
	d.printed.flush()
}

// Close waits, also for the calls of other callers that wait, then frees everything. Calls that begin meanwhile are
// refused as they are afterwards.
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
	err := d.unreported("Close")
	d.gpu.close(d)
	*d = Device{info: d.info, profile: d.profile, sharedTime: d.sharedTime, count: d.count, races: d.races.closed(d), closed: true}
	return err
}

// finish waits for all work, and for what other devices have to do with the memory.
func (d *Device) finish() {
	d.host = max(d.host, d.drained())
	d.catchUp()
}
