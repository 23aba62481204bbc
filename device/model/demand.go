package model

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// DemandKind selects the resource that a task needs.
type DemandKind uint8

const (
	Marker  DemandKind = iota // no resource: an event record, an empty node
	Kernel                    // multiprocessors and memory
	CopyIn                    // host to device copy engine
	CopyOut                   // device to host copy engine
	CopyOn                    // memory bandwidth: a copy within the device or a memset
	Host                      // the host callback thread
	Fixed                     // no resource, for Duration: an operation with a declared cost
)

// demandKinds are the names of the kinds. The last three are kinds of internal/des, for tasks of the simulated device whose
// end follows from no demand.
var demandKinds = []string{"marker", "kernel", "copy in", "copy out", "copy on", "host", "fixed", "condition", "held", "copy peer"}

func (k DemandKind) String() string { return demandKinds[k] }

// MarshalText returns the name of the kind.
func (k DemandKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind.
func (k *DemandKind) UnmarshalText(text []byte) error {
	i := slices.Index(demandKinds, string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind of demand %q", text)
	}
	*k = DemandKind(i)
	return nil
}

// Demand describes the resources that a task needs.
type Demand struct {
	Kind     DemandKind `json:"kind"`
	Duration Time       `json:"duration_ps,omitempty"` // of Host and Fixed
	Bytes    float64    `json:"bytes,omitempty"`       // DRAM traffic of a kernel or a CopyOn (a copy reads and writes); bytes moved by CopyIn and CopyOut

	// Fields of kernels. Blocks run in slots; each multiprocessor has PerSM slots.
	Blocks  float64   `json:"blocks,omitempty"`
	PerSM   float64   `json:"blocks_per_sm,omitempty"`    // resident blocks per multiprocessor, from the occupancy rules
	Work    unit.Work `json:"warp_instructions,omitzero"` // by unit, summed over all blocks
	L2Bytes float64   `json:"l2_bytes,omitempty"`         // between multiprocessors and L2; at least Bytes, because DRAM traffic passes L2
	LinkIn  float64   `json:"link_in_bytes,omitempty"`    // bytes of host memory, or of another GPU's memory, that a kernel reads
	LinkOut float64   `json:"link_out_bytes,omitempty"`   // the same, written
	Faulted float64   `json:"faulted_bytes,omitempty"`    // bytes of managed memory that are faulted in during the kernel
	Bulk    float64   `json:"bulk_bytes,omitempty"`       // bytes of managed memory that move to the device before the kernel starts
	Memory  bool      `json:"memory,omitempty"`           // accesses memory: before a successor starts, the caches are made consistent
	Updates float64   `json:"updates,omitempty"`          // atomic operations performed in L2
	Lines   float64   `json:"updated_lines,omitempty"`    // number of 128-byte lines that these operations access; 0 if they are spread over all of L2
	// BlockCycles is the mean latency of a block when nothing else runs, in cycles. SlowestCycles is the latency of
	// the slowest block, or 0 if all are alike.
	BlockCycles   float64 `json:"block_cycles,omitempty"`
	SlowestCycles float64 `json:"slowest_block_cycles,omitempty"`
}
