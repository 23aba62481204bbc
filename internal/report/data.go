package report

import "github.com/reprise-gpu/reprise/internal/layered"

// Data is the content of a report. Times are in ps since the submission of a replay. Operations are those of the program in
// program order; the operations of a loop or a branch follow it.
type Data struct {
	Format    string      `json:"format"` // "reprise-report 1"
	Tool      string      `json:"tool"`
	Program   string      `json:"program"`
	Device    string      `json:"device"`
	Name      string      `json:"device_name"`
	Source    string      `json:"source"` // "simulator" or "events", as in package timeline
	Operation []Operation `json:"operations"`
	Edges     []Edge      `json:"edges"`
	Omitted   int         `json:"omitted_edges,omitempty"` // dependencies that others imply, left out of a large graph
	Groups    []Group     `json:"groups"`
	Plans     []Plan      `json:"plans"`
	Open      Drawing     `json:"open"`   // all operations
	Closed    *Drawing    `json:"closed"` // with every group as one node; nil if no group is closed at first
}

// Operation is an operation of the program.
type Operation struct {
	Title  string   `json:"title"`
	Number string   `json:"number"` // in the text form, "%3" or "%1/%0"
	Kind   string   `json:"kind"`
	Source string   `json:"source,omitempty"`
	Kernel string   `json:"kernel,omitempty"`
	Grid   string   `json:"grid,omitempty"`
	Block  string   `json:"block,omitempty"`
	Reads  []string `json:"reads,omitempty"`
	Writes []string `json:"writes,omitempty"`
	Group  int      `json:"group"` // index in Groups, -1 for none
}

// Edge is a dependency between operations.
type Edge struct {
	From   int    `json:"from"`
	To     int    `json:"to"`
	Hazard string `json:"hazard"` // "raw|waw"; "body" between a loop or a branch and its operations
	Range  string `json:"range,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Kept   bool   `json:"kept"` // no other dependencies imply it
}

// Group is a set of operations that the page can show as one node: a body, or a run of operations in program order. An edge
// never leads out of a group and back into it.
type Group struct {
	Title string `json:"title"`
	Ops   []int  `json:"ops"`
}

// Plan is a plan of the program, and a replay of it.
type Plan struct {
	Strategy    string   `json:"strategy"`
	Backend     string   `json:"backend"`
	Lanes       int      `json:"lanes"`
	Waits       int      `json:"waits"`
	Total       int64    `json:"total"`
	Uncertainty float64  `json:"uncertainty"`
	Bound       int64    `json:"bound"` // no plan is predicted to be quicker; 0 if unknown
	Lane        []int    `json:"lane"`  // by operation; those of bodies are lanes of the body
	Rows        []string `json:"rows"`  // names of the rows of the timeline
	Spans       []Span   `json:"spans"`
	Path        []Step   `json:"path"`
	WaitPairs   [][3]int `json:"wait_pairs"` // spans, and 1 for a wait that no dependency requires
	Causes      []Part   `json:"causes"`
	Use         []Use    `json:"use,omitempty"`
	Memory      Memory   `json:"memory"`
}

// Span is when an operation ran.
type Span struct {
	Op        int    `json:"op"`
	Row       int    `json:"row"`
	Iteration int    `json:"iteration,omitempty"`
	Ready     int64  `json:"ready"`
	Begin     int64  `json:"begin"`
	End       int64  `json:"end"`
	OnPath    int64  `json:"on_path,omitempty"`
	Gap       int64  `json:"gap,omitempty"`
	Bound     string `json:"bound,omitempty"` // the limit of most of its time
	Warps     int    `json:"warps,omitempty"` // percent of the device that its blocks fill
}

// Step is a part of the critical path.
type Step struct {
	Span  int    `json:"span"` // -1 for none
	Gap   bool   `json:"gap,omitempty"`
	Begin int64  `json:"begin"`
	Took  int64  `json:"took"`
	Limit string `json:"limit"`
}

// Part is a part of the time of a replay.
type Part struct {
	Cause string `json:"cause"`
	PS    int64  `json:"ps"`
}

// Use is the use of the device from an instant on.
type Use struct {
	At    int64   `json:"at"`
	Warps float64 `json:"warps"` // percent
	DRAM  float64 `json:"dram"`  // GB/s
	Link  float64 `json:"link"`  // GB/s, both directions
}

// Memory is the memory of a plan on the device, in bytes.
type Memory struct {
	Separate int64      `json:"separate"` // every buffer has its own memory
	Shared   int64      `json:"shared"`   // temporaries that are never alive at once share memory (pass memplan)
	Bound    int64      `json:"bound"`    // no arrangement for these lanes needs less
	Live     [][2]int64 `json:"live"`     // time, and the bytes in use from then on
}

// Drawing is the places of nodes. Edges are drawn from the bottom of one node to the top of another.
type Drawing struct {
	At     [][2]float64         `json:"at"` // by node: an operation, or behind the operations without a group a group
	Routes map[int][][2]float64 `json:"routes,omitempty"`
	Width  float64              `json:"width"`
	Height float64              `json:"height"`
}

func points(list []layered.Point) (all [][2]float64) {
	for _, p := range list {
		all = append(all, [2]float64{round(p.X), round(p.Y)})
	}
	return all
}
