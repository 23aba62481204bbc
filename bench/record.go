package bench

import "fmt"

// Record is one row of a benchmark: a workload at a size under one strategy and
// back end, or one version of it by hand in C++. It is what --json writes, and what
// the programs of baseline/ print.
type Record struct {
	Workload     string `json:"workload"`
	Size         int    `json:"size"`
	Memory       string `json:"memory"`
	Threads      int    `json:"threads"` // per one-dimensional block
	Blocks       int    `json:"blocks"`  // of a one-dimensional grid
	Device       string `json:"device"`
	DeviceName   string `json:"device_name"` // as its driver says
	Simulated    bool   `json:"simulated"`
	Language     string `json:"language"`       // "go" or "c++"
	Strategy     string `json:"strategy"`       // in C++: "hand"
	Also         string `json:"also,omitempty"` // passes of the optimizer that were asked for, in Go
	Backend      string `json:"backend"`        // in C++: the version
	Ops          int    `json:"ops"`
	Edges        int    `json:"edges"`         // dependencies before reduction
	ReducedEdges int    `json:"reduced_edges"` // after it
	Lanes        int    `json:"lanes"`
	Syncs        int    `json:"syncs"`        // cross-lane waits of the schedule
	DriverCalls  int    `json:"driver_calls"` // of a replay, to the end of the wait for it
	Iterations   int    `json:"iterations"`
	Sample       int64  `json:"sample,omitempty"` // blocks run per launch, 0 for all; then no result was computed or checked

	ReplayUS float64 `json:"replay_us"` // by the host's clock: median over the iterations kept
	MinUS    float64 `json:"min_us"`
	MaxUS    float64 `json:"max_us"`
	EventUS  float64 `json:"event_us"` // by the device's clock, between events: median of other iterations

	Checked   bool    `json:"checked"` // the result was compared with the CPU reference
	MaxError  float64 `json:"max_error"`
	OK        bool    `json:"ok"`
	Error     string  `json:"error,omitempty"`
	InputHash string  `json:"input_hash"` // 16 hexadecimal digits; empty when there were no inputs

	PTXHash string `json:"ptx_hash"` // likewise, of the kernels' code

	SpeedupOverSerial float64 `json:"speedup_over_serial,omitempty"` // in Go
	Compiler          string  `json:"compiler"`
	Commit            string  `json:"commit"`
}

// Way is how the workload was run: "nimble/graph", "c++ async".
func (r *Record) Way() string {
	if r.Language == "go" {
		return r.Strategy + "/" + r.Backend
	}
	return r.Language + " " + r.Backend
}

// String tells the record from others of a run: "vec 1024 nimble/graph, pinned, 32 threads".
func (r *Record) String() string {
	return fmt.Sprintf("%s %d %s, %s, %d threads", r.Workload, r.Size, r.Way(), r.Memory, r.Threads)
}
