package bench

import (
	"fmt"
	"strings"
)

// Record is one row of a benchmark: a workload at one size with one strategy and back end, or one of its C++
// versions. It is the format of --json and of the programs in baseline/.
type Record struct {
	Workload     string `json:"workload"`
	Size         int    `json:"size"`
	Shape        string `json:"shape,omitempty"` // of matrices, for workloads with one
	Batch        int    `json:"batch,omitempty"` // images, for workloads with a batch
	Memory       string `json:"memory"`
	Threads      int    `json:"threads"` // per one-dimensional block
	Blocks       int    `json:"blocks"`  // per one-dimensional grid
	Device       string `json:"device"`
	DeviceName   string `json:"device_name"` // as the driver reports it
	Simulated    bool   `json:"simulated"`
	Language     string `json:"language"`       // "go" or "c++"
	Strategy     string `json:"strategy"`       // "hand" for C++
	Also         string `json:"also,omitempty"` // optional passes of the optimizer, for Go
	Backend      string `json:"backend"`        // the version, for C++
	Ops          int    `json:"ops"`
	Edges        int    `json:"edges"`         // dependencies before reduction
	ReducedEdges int    `json:"reduced_edges"` // after it
	Lanes        int    `json:"lanes"`
	Syncs        int    `json:"syncs"`        // cross-lane waits of the schedule
	DriverCalls  int    `json:"driver_calls"` // per replay, including the wait for it
	Iterations   int    `json:"iterations"`
	Sample       int64  `json:"sample,omitempty"` // blocks run per launch, 0 for all; if not 0, no result was computed or checked

	ReplayUS float64 `json:"replay_us"` // host time: median over the measured iterations
	MinUS    float64 `json:"min_us"`
	MaxUS    float64 `json:"max_us"`
	EventUS  float64 `json:"event_us"` // device time between events: median of other iterations

	// An iteration of an unrolled plan, or of a version with memory for several replays, is Copies replays. Iterations
	// counts these, and ReplayUS, MinUS, MaxUS and EventUS are of one. Copies is 0 for one replay.
	Copies     int   `json:"copies,omitempty"`
	AddedBytes int64 `json:"added_bytes,omitempty"` // memory on the device beyond that of one replay

	// A burst is replays that are submitted back to back, with one wait at the end. Burst is their number, 0 for no
	// measurement, and BurstUS the time of the burst divided by it.
	Burst   int     `json:"burst,omitempty"`
	BurstUS float64 `json:"burst_us,omitempty"`
	// BurstHash is that of all memory that outlives a replay, after the burst; "" if it was not compared with the
	// memory after serial replays.
	BurstHash string `json:"burst_hash,omitempty"`

	Uncertainty float64 `json:"uncertainty,omitempty"` // relative, of predicted times: see package uncertainty

	Checked   bool    `json:"checked"` // the result was compared with the CPU reference
	MaxError  float64 `json:"max_error"`
	OK        bool    `json:"ok"`
	Error     string  `json:"error,omitempty"`
	InputHash string  `json:"input_hash"` // 16 hexadecimal digits; "" without inputs

	PTXHash string `json:"ptx_hash"` // the same for the code of the kernels

	SpeedupOverSerial float64 `json:"speedup_over_serial,omitempty"` // for Go
	Compiler          string  `json:"compiler"`
	Commit            string  `json:"commit"`
}

// Way returns how the workload was run: "nimble/graph", "nimble/graph merge", "c++ async".
func (r *Record) Way() string {
	if r.Language == "go" {
		return strings.TrimSuffix(r.Strategy+"/"+r.Backend+" "+r.Also, " ")
	}
	return r.Language + " " + r.Backend
}

// String identifies the record in a run: "vec 1024 nimble/graph, pinned, 32 threads".
func (r *Record) String() string {
	text := fmt.Sprintf("%s %s, %s", named(r.Workload, r.Size), r.Way(), r.Memory)
	if r.Threads != 0 {
		text += fmt.Sprintf(", %d threads", r.Threads)
	}
	return text
}
