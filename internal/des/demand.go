package des

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// DemandKind says which resource a task needs.
type DemandKind uint8

const (
	Marker    DemandKind = iota // nothing: an event record, an empty node
	Kernel                      // multiprocessors and memory
	CopyIn                      // host to device copy engine
	CopyOut                     // device to host copy engine
	CopyOn                      // device to device, memory bandwidth; a memset too
	Host                        // the host callback thread
	Fixed                       // Duration, shares nothing: an op with a declared cost
	Condition                   // nothing, for as long as a conditional node takes to decide
	Held                        // nothing, until Release or Return
)

var demandKinds = []string{"marker", "kernel", "copy in", "copy out", "copy on", "host", "fixed", "condition", "held"}

func (k DemandKind) String() string { return demandKinds[k] }

// MarshalText is the name of a kind.
func (k DemandKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse.
func (k *DemandKind) UnmarshalText(text []byte) error {
	i := slices.Index(demandKinds, string(text))
	if i < 0 {
		return fmt.Errorf("there is no kind of demand %q", text)
	}
	*k = DemandKind(i)
	return nil
}

// Demand is what a task asks of the device.
type Demand struct {
	Kind     DemandKind `json:"kind"`
	Duration Time       `json:"duration_ps,omitempty"` // of Host and Fixed
	Bytes    float64    `json:"bytes,omitempty"`       // DRAM traffic of a kernel or a CopyOn (a copy reads and writes); bytes moved by CopyIn and CopyOut

	// Of a kernel. Blocks run in slots, PerSM of them on each multiprocessor.
	Blocks  float64   `json:"blocks,omitempty"`
	PerSM   float64   `json:"blocks_per_sm,omitempty"`    // resident blocks per multiprocessor, from the occupancy rules
	Work    unit.Work `json:"warp_instructions,omitzero"` // by unit, over all blocks
	L2Bytes float64   `json:"l2_bytes,omitempty"`         // between multiprocessors and L2; what DRAM supplies passes there too, so at least Bytes
	LinkIn  float64   `json:"link_in_bytes,omitempty"`    // bytes of the host's memory, or another GPU's, that a kernel reads, and
	LinkOut float64   `json:"link_out_bytes,omitempty"`   // those that it writes
	Faulted float64   `json:"faulted_bytes,omitempty"`    // bytes of managed memory that move to the device as it touches them, and
	Bulk    float64   `json:"bulk_bytes,omitempty"`       // those that move before it starts
	Updates float64   `json:"updates,omitempty"`          // atomic operations done in L2
	Lines   float64   `json:"updated_lines,omitempty"`    // over how many lines of 128 bytes they are spread, 0 when over all of L2
	// BlockCycles is the latency of one block when nothing else runs, in cycles, in
	// the mean over the blocks, and SlowestCycles that of the slowest one, 0 when
	// all are alike.
	BlockCycles   float64 `json:"block_cycles,omitempty"`
	SlowestCycles float64 `json:"slowest_block_cycles,omitempty"`
}

// CheckKernel says why d, which comes from outside, is not what a kernel asks of a device of
// that profile.
func (d *Demand) CheckKernel(p *Profile) error {
	if d.Kind != Kernel {
		return fmt.Errorf("a launch asks for a kernel, not %q", d.Kind)
	}
	if !(d.Blocks >= 1) || !(d.PerSM >= 1) {
		return fmt.Errorf("a kernel has at least 1 block, and at least 1 fits on a multiprocessor; these are %g and %g", d.Blocks, d.PerSM)
	}
	if d.Faulted > 0 && !p.PageFaults() {
		return fmt.Errorf("kernels on %s fault nothing in", p.ID)
	}
	for u, n := range d.Work {
		if err := within("warp_instructions of "+unit.Unit(u).String(), n); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		name string
		of   float64
	}{
		{"blocks", d.Blocks}, {"blocks_per_sm", d.PerSM}, {"bytes", d.Bytes}, {"l2_bytes", d.L2Bytes}, {"link_in_bytes", d.LinkIn},
		{"link_out_bytes", d.LinkOut}, {"faulted_bytes", d.Faulted}, {"bulk_bytes", d.Bulk}, {"updates", d.Updates},
		{"updated_lines", d.Lines}, {"block_cycles", d.BlockCycles}, {"slowest_block_cycles", d.SlowestCycles},
	} {
		if err := within(a.name, a.of); err != nil {
			return err
		}
	}
	return nil
}

// within refuses an amount, also one that is no number.
func within(name string, n float64) error {
	if !(n >= 0 && n <= mostOfAnything) {
		return fmt.Errorf("%s is %g; it must be from 0 to %g", name, n, float64(mostOfAnything))
	}
	return nil
}

// mostOfAnything is more than a launch asks for in a day.
const mostOfAnything = 1e18
