// Package plansize describes the memory of plans and what unrolling costs, for commands, benchmarks and tests. Package
// optimizer sets the functions.
package plansize

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// Memory is the size of the buffers of a schedule on the device, in bytes. Each allocation is rounded up to the
// alignment.
type Memory struct {
	Before int64 `json:"before"` // if every buffer has its own memory
	After  int64 `json:"after"`  // with the arena of the schedule
	Bound  int64 `json:"bound"`  // lower bound of After for the lanes and waits of the schedule
}

// MemoryOf returns the memory of a schedule. Temporaries that no operation uses are not counted.
var MemoryOf func(s *ir.Schedule) Memory

// BytesOf returns Before and After of MemoryOf without the bound, in linear time.
var BytesOf func(s *ir.Schedule) (before, after int64)

// Unrolled holds the gain and the cost of unrolling.
type Unrolled struct {
	Copies        int     `json:"copies"`
	CopyUS        float64 `json:"copy_us"`        // predicted time of a replay per copy, in us
	InstantiateUS float64 `json:"instantiate_us"` // time of the host to instantiate the graph once, in us
	Bytes         int64   `json:"bytes"`          // additional memory for copies
}

// UnrolledOf returns these figures for a schedule. Copies is 1 if the program is not unrolled.
var UnrolledOf func(s *ir.Schedule, p *model.Profile) Unrolled
