package sim

import (
	"bytes"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

type jobKind uint8

const (
	nothing jobKind = iota
	launch
	copyBytes
	memset
	hostCall
	upload   // Write: from host bytes to device memory
	download // Read: from device memory to host bytes
	prefetch
	release
	decision // of a conditional node
	valueOps
	graphAlloc
	graphFree
)

// job is a device.Work prepared to run. It is immutable while it may run: an update makes a new job, and work
// enqueued before keeps the old one.
type job struct {
	kind  jobKind
	once  bool // enqueued once, so the struct can be reused after it has ended
	off   bool // a disabled launch; its kind is nothing
	label string

	// launch
	kernel *kernel
	launch interp.Launch
	perSM  float64 // occupancy
	shape  *shape  // for the memo; nil until the first look-up

	priority    int32
	hasPriority bool // otherwise the stream's priority is used

	// copies and memset
	dst, src uint64
	bytes    int64
	value    uint32
	width    int
	box      *box   // for copies and memsets with more than one dimension
	host     []byte // for upload and download
	own      bool   // a copy that the host makes and waits for

	toDevice bool // for prefetch

	ops []ValueOp

	work   *device.HostCall // for hostCall
	told   func(error)      // for a Callback: receives the error before it, and runs even then
	call   func()           // called after a release
	choice *choice          // for decision
	memory *graphMemory     // for graphAlloc and graphFree
	uses   []device.HostUse
}

// lower checks a work and makes a job of it.
func (d *Device) lower(w device.Work) (*job, *device.Error) {
	j := &job{}
	if err := d.fill(j, w); err != nil {
		return nil, err
	}
	return j, nil
}

// lowerOnce is lower for a job that is enqueued once. Its struct is reused after it has ended.
func (d *Device) lowerOnce(w device.Work) (*job, *device.Error) {
	var j *job
	if n := len(d.spare); n > 0 {
		j, d.spare = d.spare[n-1], d.spare[:n-1]
	} else {
		j = &job{}
	}
	if err := d.fill(j, w); err != nil {
		d.spare = append(d.spare, j)
		return nil, err
	}
	j.once = true
	return j, nil
}

// fill initialises j from a work.
func (d *Device) fill(j *job, w device.Work) *device.Error {
	switch w := w.(type) {
	case *Transfer:
		return d.fillTransfer(j, w)
	case *Fill:
		return d.fillFill(j, w)
	case *Recall:
		return d.fillRecall(j, w)
	case *Release:
		return d.fillRelease(j, w)
	case *Values:
		return d.fillValues(j, w)
	case *Callback:
		*j = job{kind: hostCall, told: w.Func}
		return nil
	}
	if err := contract.CheckWork(w, &d.info); err != nil {
		return err
	}
	params := j.launch.Params[:0]
	switch w := w.(type) {
	case *device.Launch:
		return d.fillLaunch(j, w, params)
	case *device.Copy:
		*j = job{kind: copyBytes, dst: uint64(w.Dst), src: uint64(w.Src), bytes: w.Bytes, label: w.Label}
		return first(d.writable(w.Dst, w.Bytes), d.within(w.Src, w.Bytes), d.enabled(w.Dst, w.Bytes), d.enabled(w.Src, w.Bytes))
	case *device.Memset:
		*j = job{kind: memset, dst: uint64(w.Dst), bytes: w.Count * int64(w.Width), value: w.Value, width: w.Width, label: w.Label}
		return first(d.writable(w.Dst, j.bytes), d.own(w.Dst, j.bytes))
	case *device.Prefetch:
		return d.fillPrefetch(j, w)
	case *device.HostCall:
		*j = job{kind: hostCall, work: &device.HostCall{Func: w.Func, Label: w.Label}, label: w.Label, uses: append([]device.HostUse(nil), w.Uses...)}
	default:
		*j = job{kind: nothing}
	}
	return nil
}

func (d *Device) fillLaunch(j *job, w *device.Launch, params []byte) *device.Error {
	k, err := d.funcs.Get(w.Function)
	if err != nil {
		return err
	}
	threads, shared := int(w.Block.Count()), int(w.Shared)+k.code.SharedStatic()
	refuse := func(code device.Code, format string, args ...any) *device.Error {
		return &device.Error{Code: code, Detail: "kernel " + k.name + ": " + fmt.Sprintf(format, args...)}
	}
	switch most := k.code.MaxThreads(); {
	case len(w.Params) != k.code.ParamBytes():
		return refuse(device.InvalidValue, "a parameter block of %d bytes; its signature needs %d", len(w.Params), k.code.ParamBytes())
	case most > 0 && threads > most:
		return refuse(device.InvalidValue, "%d threads per block; it declares at most %d", threads, most)
	case k.req[0] > 0 && k.req != extents(w.Block):
		return refuse(device.InvalidValue, "block %v; it requires %v", w.Block, k.req)
	case shared > d.info.MaxShared:
		return refuse(device.InvalidValue, "%d bytes of shared memory, %d of them static; the device allows %d", shared, k.code.SharedStatic(), d.info.MaxShared)
	}
	perSM, _ := d.profile.Limits.Occupancy(threads, k.code.Registers(), shared)
	if perSM == 0 {
		return refuse(device.OutOfResources, "%d threads of %d registers do not fit on a multiprocessor", threads, k.code.Registers())
	}
	resident := int64(perSM) * int64(d.profile.SMs)
	if w.Cooperative && w.Grid.Count() > uint64(resident) {
		return refuse(device.CooperativeTooLarge, "a cooperative launch of %d blocks; %d fit on the device together, %d on each of %d multiprocessors",
			w.Grid.Count(), resident, perSM, d.profile.SMs)
	}
	*j = job{
		kind: launch, kernel: k, label: w.Label, perSM: float64(perSM), priority: clampPriority(w.Priority), hasPriority: w.Priority != 0,
		launch: interp.Launch{
			Grid: extents(w.Grid), Block: extents(w.Block), Shared: w.Shared,
			Params: append(params, w.Params...), Label: w.Label, Stdout: &d.printed,
			ClockMHz: int64(d.profile.ClockMHz), Multiprocessors: uint32(d.profile.SMs),
			Workers: d.workers, Resident: resident, Cooperative: w.Cooperative,
			MemoryCycles: memoryCycles(d.profile), CacheBytes: l1Share(d.profile, des.Present(w.Grid.Count(), perSM, d.profile.SMs), shared), Sample: d.sampled(w), StepLimit: d.steps,
		},
	}
	if d.races != nil {
		for _, x := range w.Declared {
			j.launch.Declared = append(j.launch.Declared, interp.Declared{
				Address: uint64(x.Ptr), Bytes: x.Bytes, Step: x.Step, Before: x.Before, After: x.After, First: x.First, Blocks: x.Blocks,
			})
		}
	}
	if w.Off {
		j.kind, j.off = nothing, true
	}
	return nil
}

// sampled returns how many blocks of a launch to run, 0 for all. A cooperative launch needs all its blocks, because
// they wait for each other.
func (d *Device) sampled(w *device.Launch) int64 {
	if w.Cooperative {
		return 0
	}
	return d.sample
}

func extents(d device.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

// cost returns the host time of the call that enqueues a job.
func (d *Device) cost(j *job) model.Time {
	h := &d.profile.Host
	switch j.kind {
	case launch:
		return h.Launch
	case copyBytes, prefetch:
		return h.Memcpy
	case memset:
		return h.Memset
	case hostCall:
		return h.HostCall
	case valueOps:
		var all model.Time
		for i := range j.ops {
			all += j.ops[i].Kind.cost(h)
		}
		return all
	}
	return h.EventRecord // a marker costs the same as an event record
}

// start executes a task and returns its demand. The engine calls it when the task starts.
func (d *Device) start(id des.TaskID, data any) model.Demand {
	demand := d.perform(id, data)
	d.crossSwitch(&demand)
	return demand
}

// perform executes a task. After a fault nothing executes any more.
func (d *Device) perform(id des.TaskID, data any) model.Demand {
	if f, ok := data.(finally); ok {
		f()
	}
	j := jobOf(data)
	if j.notices() {
		d.noticeable--
		d.noticed++
	}
	if d.fault != nil && (j == nil || j.told == nil) {
		return model.Demand{}
	}
	switch v := data.(type) {
	case *visit:
		return d.decide(id, v)
	case *beginning:
		d.begin(id, v)
		return model.Demand{}
	}
	if j == nil {
		return model.Demand{}
	}
	switch j.kind {
	case launch:
		return d.startLaunch(id, j)
	case valueOps:
		return d.startValues(id, j)
	case graphAlloc, graphFree:
		d.startGraphMemory(id, j)
		return model.Demand{}
	}
	demand := d.startOther(id, j)
	if d.fault == nil {
		d.note(id, j)
	}
	return demand
}

func (d *Device) startOther(id des.TaskID, j *job) model.Demand {
	switch j.kind {
	case copyBytes:
		return d.startCopy(j)
	case memset:
		return d.startMemset(j)
	case hostCall:
		return d.startHostCall(id, j)
	case prefetch:
		return d.startPrefetch(j)
	case release:
		return d.startRelease(j)
	case upload:
		copy(d.reachTo(j.dst, j.bytes), j.host)
		d.changed(j.dst)
		d.moved(j.dst, 0, j.bytes)
		return model.Demand{Kind: model.CopyIn, Bytes: float64(j.bytes)}
	case download:
		copy(j.host, d.reach(j.src, j.bytes))
		return model.Demand{Kind: model.CopyOut, Bytes: float64(j.bytes)}
	}
	return model.Demand{}
}

// reach returns the memory that a job accesses. It sets a fault if the memory was freed since the job was checked,
// which can happen to jobs of graphs and command lists.
func (d *Device) reach(addr uint64, n int64) []byte {
	b, err := d.memory.Bytes(addr, n)
	if err != nil {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: "a copy or memset whose memory was freed", Err: err}
		return nil
	}
	return b
}

// reachTo is reach for memory that a job writes.
func (d *Device) reachTo(addr uint64, n int64) []byte {
	if !d.memory.Writable(addr, uint64(n)) {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: fmt.Sprintf("a copy or memset to %d bytes at %#x, mapped memory that this GPU may only read", n, addr)}
		return nil
	}
	return d.reach(addr, n)
}

// maxControlBytes is the maximum size, in bytes, of data on which the control flow of a kernel is assumed to depend, such as
// counters and flags.
const maxControlBytes = 4096

// skips reports whether a copy or a memset is only timed. On a sampled device computed data are meaningless, and
// memory that is never accessed costs no host memory. Copies by the host itself are made.
func (d *Device) skips(j *job) bool { return d.sample > 0 && !j.own && j.bytes > maxControlBytes }

func (d *Device) startCopy(j *job) model.Demand {
	if j.bytes == 0 {
		return model.Demand{}
	}
	steered := j.own // the host wrote the data; see computed
	switch {
	case d.skips(j):
	case j.box != nil:
		d.copyBox(j.box)
	default:
		dst, src := d.reachTo(j.dst, j.bytes), d.reach(j.src, j.bytes)
		steered = steered || d.memory.Home(j.src, j.bytes) == interp.Host && !bytes.Equal(dst, src)
		copy(dst, src)
	}
	if steered {
		d.changed(j.dst)
	} else {
		d.computed(j.dst)
	}
	d.moved(j.dst, j.src, j.bytes)
	d.count.CopiedBytes += j.bytes
	return d.direction(j)
}

func (d *Device) startMemset(j *job) model.Demand {
	if j.bytes == 0 {
		return model.Demand{}
	}
	switch {
	case d.skips(j):
	case j.box != nil:
		d.fillBox(j.box, j.value, j.width)
	default:
		fill(d.reachTo(j.dst, j.bytes), j.value, j.width)
	}
	d.computed(j.dst)
	d.moved(j.dst, 0, j.bytes)
	return model.Demand{Kind: model.CopyOn, Bytes: float64(j.bytes)}
}

// startLaunch executes a kernel, or applies its result from the memo.
func (d *Device) startLaunch(id des.TaskID, j *job) model.Demand {
	d.count.Launches++
	if j.kernel.of.gone {
		d.fault = &device.Error{Code: device.InvalidHandle, Detail: "kernel " + j.kernel.name + " of module " + j.kernel.of.name + ", which was unloaded"}
		return model.Demand{}
	}
	stats, touched, hit := d.memo.lookup(d, j)
	if !hit {
		var fault *interp.Fault
		stats, fault = d.execute(j)
		if fault != nil {
			d.fault = faultError(fault)
			return model.Demand{}
		}
		d.memo.store(d, j, &stats)
	}
	if d.races != nil {
		var hazards []interp.Hazard
		if !hit {
			touched, hazards = d.races.record.Allocations, d.races.record.Hazards
		}
		d.races.launched(id, touched, hazards)
	}
	demand := d.demand(j, &stats)
	if k := d.history.of(id); k != nil {
		k.launched = d.launched(j, &stats, &demand)
	}
	return demand
}

// observe is set by tests. It is called for every executed launch, with the bytes that it touched.
var observe func(d *Device, j *job, touched *interp.Record)

func (d *Device) execute(j *job) (interp.Stats, *interp.Fault) {
	l := j.launch
	l.Record = d.races.recordFor()
	l.Start, l.Number = int64(d.engine.Now()/model.Nanosecond), uint32(d.count.Launches)
	if observe != nil && l.Record == nil {
		l.Record = &interp.Record{}
	}
	stats, fault := j.kernel.code.Run(d.memory, l)
	if observe != nil && fault == nil {
		observe(d, j, l.Record)
	}
	return stats, fault
}

var faultCodes = [...]device.Code{
	interp.IllegalAddress:  device.IllegalAddress,
	interp.Misaligned:      device.MisalignedAddress,
	interp.BarrierMismatch: device.LaunchFailed,
	interp.Unsupported:     device.NotSupported,
	interp.Trap:            device.LaunchFailed,
	interp.Assert:          device.Assert,
	interp.Deadlock:        device.LaunchTimeout,
	interp.Timeout:         device.LaunchTimeout,
	interp.StackOverflow:   device.LaunchFailed,
	interp.BadLaunch:       device.InvalidValue,
}

func faultError(f *interp.Fault) *device.Error {
	return &device.Error{Code: faultCodes[f.Kind], Fault: &device.Fault{
		Kernel: f.Kernel, Label: f.Label, Block: f.Block, Thread: f.Thread,
		File: f.File, Line: f.Pos.Line, Source: f.Source, Address: f.Address, Reason: f.Reason, Refused: f.Refused(),
	}}
}
