package bench

// Record is one row of a benchmark: a workload at a size under one strategy and
// back end. It is what --json writes.
type Record struct {
	Workload          string  `json:"workload"`
	Size              int     `json:"size"`
	Device            string  `json:"device"`
	Simulated         bool    `json:"simulated"`
	Strategy          string  `json:"strategy"`
	Backend           string  `json:"backend"`
	Ops               int     `json:"ops"`
	Edges             int     `json:"edges"`         // dependencies before reduction
	ReducedEdges      int     `json:"reduced_edges"` // after it
	Lanes             int     `json:"lanes"`
	Syncs             int     `json:"syncs"` // cross-lane waits of the schedule
	Iterations        int     `json:"iterations"`
	Sample            int64   `json:"sample,omitempty"` // blocks run per launch, 0 for all; then no result was computed or checked
	ReplayUS          float64 `json:"replay_us"`        // median over the iterations kept
	SpeedupOverSerial float64 `json:"speedup_over_serial"`
	MaxError          float64 `json:"max_error"`
	OK                bool    `json:"ok"`
	Error             string  `json:"error,omitempty"`
	GoVersion         string  `json:"go_version"`
	Commit            string  `json:"commit"`
}
