package profiles

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// Figure is one number of a profile, with the name that it has in files and reports. The name ends in the unit,
// except for counts and ratios.
type Figure struct {
	Name  string
	Doc   string
	Least float64 // bounds of the value; Most keeps sums of times and sizes within an int64
	Most  float64
	at    func(*model.Profile) any // *int, *int64, *float64 or *model.Time
}

// Of returns the value of the figure in a profile, in the unit of its name.
func (f *Figure) Of(p *model.Profile) float64 {
	switch at := f.at(p).(type) {
	case *int:
		return float64(*at)
	case *int64:
		return float64(*at)
	case *float64:
		return *at
	case *model.Time:
		return float64(*at) / float64(model.Nanosecond)
	}
	panic("BUG: figure " + f.Name + " has a type that files do not hold")
}

// Set sets the value of the figure in a profile. It returns an error if the value is out of bounds.
func (f *Figure) Set(p *model.Profile, v float64) error {
	if !(v >= f.Least && v <= f.Most) {
		return fmt.Errorf("%s is %v; it must be from %v to %v", f.Name, v, f.Least, f.Most)
	}
	at := f.at(p)
	switch at.(type) {
	case *float64:
		if v > 0 && v < leastPositive {
			return fmt.Errorf("%s is %v; it must be from %v to %v, and at least %v unless it is 0", f.Name, v, f.Least, f.Most, leastPositive)
		}
	case *int, *int64:
		if v != math.Trunc(v) {
			return fmt.Errorf("%s is %v; it must be a whole number", f.Name, v)
		}
	}
	switch at := at.(type) {
	case *int:
		*at = int(v)
	case *int64:
		*at = int64(v)
	case *float64:
		*at = v
	case *model.Time:
		*at = model.Time(math.Round(v * float64(model.Nanosecond)))
	}
	return nil
}

// profileError is the error of Check.
type profileError struct {
	id  string
	err error
}

func (e *profileError) Error() string        { return fmt.Sprintf("profile %q: %v", e.id, e.err) }
func (e *profileError) Unwrap() error        { return e.err }
func (e *profileError) Is(target error) bool { return target == model.ErrProfile }

// Check returns an error for the first figure of a profile that is out of its bounds. model.ErrProfile is in its chain.
func Check(p *model.Profile) error {
	into := *p
	for i := range figures {
		if err := figures[i].Set(&into, figures[i].Of(p)); err != nil {
			return &profileError{p.ID, err}
		}
	}
	return nil
}

// Figures returns all figures, in the order of the fields of model.Profile.
func Figures() []Figure { return figures }

// LookupFigure returns the figure of that name, or nil.
func LookupFigure(name string) *Figure {
	for i := range figures {
		if figures[i].Name == name {
			return &figures[i]
		}
	}
	return nil
}

// Upper bounds of figures. The simulator has tables whose size is proportional to the memory and the caches.
const (
	maxCount  = 1 << 20
	maxRate   = 1e9
	maxCycles = 1e6
	maxTime   = 1e9 // ns

	// leastPositive is the least rate or share other than 0, because times are divided by them.
	leastPositive = 1e-3

	maxGap = 99_999 // ns; less than the time for which the event core keeps ended tasks
)

var figures = append(append(hardware, lanes()...), times...)

// laterFigures are those that the format of files did not have at first. A file may leave them out.
var laterFigures = []string{"flush_latency_ns", "block_latency_ns", "warp_latency_ns", "context_switch_ns", "context_slice_ns"}

var hardware = []Figure{
	{"multiprocessors", "multiprocessors of the device", 1, 1 << 16, func(p *model.Profile) any { return &p.SMs }},
	{"clock_mhz", "clock of the multiprocessors", 1, 1e6, func(p *model.Profile) any { return &p.ClockMHz }},
	{"memory_bytes", "device memory", 1, 1 << 44, func(p *model.Profile) any { return &p.MemoryBytes }},
	{"memory_gbps", "peak bandwidth of device memory, 1e9 bytes/s", 1e-3, maxRate, func(p *model.Profile) any { return &p.MemoryGBps }},
	{"memory_share", "of that peak, what a kernel can reach; 0 is all", 0, 1, func(p *model.Profile) any { return &p.MemoryShare }},
	{"sm_gbps", "what one multiprocessor can draw from L2 and beyond; 0 is no limit", 0, maxRate, func(p *model.Profile) any { return &p.SMGBps }},
	{"l2_bytes", "L2 cache", 0, 1 << 40, func(p *model.Profile) any { return &p.L2Bytes }},
	{"l2_gbps", "what L2 delivers to all multiprocessors; 0 is no limit", 0, maxRate, func(p *model.Profile) any { return &p.L2GBps }},
	{"l2_slices", "parts of L2, each of which does one atomic update per cycle; 0 is no limit", 0, maxCount, func(p *model.Profile) any { return &p.L2Slices }},
	{"l1_bytes", "L1 and shared memory of one multiprocessor", 0, 1 << 26, func(p *model.Profile) any { return &p.L1Bytes }},
	{"link_gbps", "host link, each direction", 1e-3, maxRate, func(p *model.Profile) any { return &p.LinkGBps }},
	{"duplex_gbps", "host link, both directions together; 0 is no limit", 0, maxRate, func(p *model.Profile) any { return &p.DuplexGBps }},
	{"fault_gbps", "managed memory that kernels fault in; 0 is no limit but the link", 0, maxRate, func(p *model.Profile) any { return &p.FaultGBps }},
	{"max_kernels", "kernels resident at once", 1, maxCount, func(p *model.Profile) any { return &p.MaxKernels }},
	{"blocks_per_cycle", "blocks that the device starts in a cycle; 0 is no limit", 0, maxCount, func(p *model.Profile) any { return &p.BlockRate }},
	{"threads_per_sm", "threads resident on a multiprocessor", 1, maxCount, func(p *model.Profile) any { return &p.Limits.ThreadsPerSM }},
	{"threads_per_block", "threads of one block", 1, maxCount, func(p *model.Profile) any { return &p.Limits.ThreadsPerBlock }},
	{"blocks_per_sm", "blocks resident on a multiprocessor", 1, maxCount, func(p *model.Profile) any { return &p.Limits.BlocksPerSM }},
	{"registers_per_sm", "32-bit registers of a multiprocessor", 1, 1 << 30, func(p *model.Profile) any { return &p.Limits.RegistersPerSM }},
	{"registers_per_warp", "granularity in which a warp gets registers", 1, 1 << 30, func(p *model.Profile) any { return &p.Limits.RegistersPerWarp }},
	{"schedulers_per_sm", "warp schedulers of a multiprocessor, which issue an instruction per cycle each and share its registers", 1, 64, func(p *model.Profile) any { return &p.Limits.Schedulers }},
	{"shared_bytes_per_sm", "shared memory of a multiprocessor", 0, 1 << 26, func(p *model.Profile) any { return &p.Limits.SharedPerSM }},
	{"shared_bytes_per_block", "shared memory of one block, static and dynamic", 0, 1 << 26, func(p *model.Profile) any { return &p.Limits.SharedPerBlock }},
	{"shared_bytes_reserved", "shared memory that the system takes of every block", 0, 1 << 26, func(p *model.Profile) any { return &p.Limits.SharedReserved }},
	{"l1_cycles", "latency of a load that hits L1", 0, maxCycles, func(p *model.Profile) any { return &p.L1Cycles }},
	{"l2_cycles", "latency of a load that hits L2", 0, maxCycles, func(p *model.Profile) any { return &p.L2Cycles }},
	{"dram_cycles", "latency of a load that misses both", 0, maxCycles, func(p *model.Profile) any { return &p.DRAMCycles }},
}

// lanes returns the figures of the execution units.
func lanes() (list []Figure) {
	for u := range unit.Count {
		list = append(list, Figure{
			"lanes_" + u.String(), "lanes of " + u.String() + " instructions per cycle and multiprocessor; 0 is no limit",
			0, maxCount, func(p *model.Profile) any { return &p.Lanes[u] },
		})
	}
	return list
}

var times = []Figure{
	{"kernel_ramp_ns", "from a kernel's first slot to its first instruction, and its drain", 0, maxTime, func(p *model.Profile) any { return &p.KernelRamp }},
	{"copy_in_latency_ns", "fixed cost of a copy from host to device", 0, maxTime, func(p *model.Profile) any { return &p.CopyInLatency }},
	{"copy_out_latency_ns", "fixed cost of a copy from device to host", 0, maxTime, func(p *model.Profile) any { return &p.CopyOutLatency }},
	{"copy_on_latency_ns", "fixed cost of a copy within the device or a memset", 0, maxTime, func(p *model.Profile) any { return &p.CopyOnLatency }},
	{"host_call_latency_ns", "fixed cost of a host callback", 0, maxTime, func(p *model.Profile) any { return &p.HostCallLatency }},
	{"condition_latency_ns", "a conditional node's reading of its condition, once per iteration and once to end", 0, maxTime, func(p *model.Profile) any { return &p.ConditionLatency }},
	{"flush_latency_ns", "from the last instruction of a kernel that accesses memory until the caches are consistent for a successor", 0, maxTime, func(p *model.Profile) any { return &p.FlushLatency }},
	{"block_latency_ns", "from the end of a block to the first instruction of the next in its slot", 0, maxTime, func(p *model.Profile) any { return &p.BlockLatency }},
	{"warp_latency_ns", "the same, more for each warp of the block", 0, maxTime, func(p *model.Profile) any { return &p.WarpLatency }},
	{"fault_latency_ns", "what a kernel waits for the first managed memory that it faults in, beside the transfer", 0, maxTime, func(p *model.Profile) any { return &p.FaultLatency }},
	{"submit_latency_ns", "from a call's return on the host to its work being ready on the device", 0, maxTime, func(p *model.Profile) any { return &p.SubmitLatency }},
	{"stream_gap_ns", "from the end of a task to the next in its stream", 0, maxGap, func(p *model.Profile) any { return &p.StreamGap }},
	{"event_gap_ns", "from the end of a task to one in another stream that waits for its event", 0, maxGap, func(p *model.Profile) any { return &p.EventGap }},
	{"graph_edge_gap_ns", "along an edge of a graph", 0, maxGap, func(p *model.Profile) any { return &p.GraphEdgeGap }},
	{"graph_root_gap_ns", "from the task before a graph in the stream to the graph's roots", 0, maxGap, func(p *model.Profile) any { return &p.GraphRootGap }},
	{"graph_body_gap_ns", "between the runs of a conditional node's body", 0, maxGap, func(p *model.Profile) any { return &p.GraphBodyGap }},
	{"context_switch_ns", "from the end of one process's work to the start of another's", 0, maxTime, func(p *model.Profile) any { return &p.ContextSwitch }},
	{"context_slice_ns", "after which the device leaves a process that has more work; 0 is never", 0, maxTime, func(p *model.Profile) any { return &p.ContextSlice }},
	{"call_launch_ns", "cuLaunchKernel on the host", 0, maxTime, func(p *model.Profile) any { return &p.Host.Launch }},
	{"call_memcpy_ns", "cuMemcpyAsync", 0, maxTime, func(p *model.Profile) any { return &p.Host.Memcpy }},
	{"call_memset_ns", "cuMemsetD*Async", 0, maxTime, func(p *model.Profile) any { return &p.Host.Memset }},
	{"call_host_call_ns", "cuLaunchHostFunc", 0, maxTime, func(p *model.Profile) any { return &p.Host.HostCall }},
	{"call_event_record_ns", "cuEventRecord", 0, maxTime, func(p *model.Profile) any { return &p.Host.EventRecord }},
	{"call_event_wait_ns", "cuStreamWaitEvent", 0, maxTime, func(p *model.Profile) any { return &p.Host.EventWait }},
	{"call_graph_launch_ns", "cuGraphLaunch, base", 0, maxTime, func(p *model.Profile) any { return &p.Host.GraphLaunch }},
	{"call_graph_node_ns", "cuGraphLaunch, more per node", 0, maxTime, func(p *model.Profile) any { return &p.Host.GraphNode }},
	{"call_graph_branch_ns", "cuGraphLaunch, more per node that does not simply continue a chain", 0, maxTime, func(p *model.Profile) any { return &p.Host.GraphBranch }},
	{"call_synchronize_ns", "the return from a wait after the device is done", 0, maxTime, func(p *model.Profile) any { return &p.Host.Synchronize }},
	{"call_query_ns", "cuEventElapsedTime and the like", 0, maxTime, func(p *model.Profile) any { return &p.Host.Query }},
	{"call_alloc_ns", "cuMemAlloc, cuMemFree", 0, maxTime, func(p *model.Profile) any { return &p.Host.Alloc }},
	{"call_create_ns", "a stream, event or graph; a node", 0, maxTime, func(p *model.Profile) any { return &p.Host.Create }},
	{"call_instantiate_ns", "cuGraphInstantiate, base", 0, maxTime, func(p *model.Profile) any { return &p.Host.Instantiate }},
	{"call_instantiate_node_ns", "cuGraphInstantiate, more per node", 0, maxTime, func(p *model.Profile) any { return &p.Host.InstantiateOne }},
	{"call_update_node_ns", "cuGraphExec*NodeSetParams", 0, maxTime, func(p *model.Profile) any { return &p.Host.UpdateNode }},
	{"call_load_module_ns", "cuModuleLoadData", 0, maxTime, func(p *model.Profile) any { return &p.Host.LoadModule }},
}
