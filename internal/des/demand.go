package des

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// Kinds of demands that follow those of package model.
const (
	Condition = model.Fixed + 1 + iota // no resource, for the time in which a conditional node evaluates its condition
	Held                               // no resource, until Release or Return
	CopyPeer                           // memory bandwidth for Bytes, after Duration; Cross adds the channels of the link
)

// PageFaults reports whether kernels can fault in managed memory. Before compute capability 6.0, all managed memory
// that a kernel uses moves before the kernel starts.
func PageFaults(p *model.Profile) bool { return p.ComputeMajor >= 6 }

// CheckKernel returns an error if d, which comes from outside of the simulator, is not a valid kernel for a device
// with profile p.
func CheckKernel(d *model.Demand, p *model.Profile) error {
	if d.Kind != model.Kernel {
		return fmt.Errorf("the demand of a launch is of kind %q; it must be a kernel", d.Kind)
	}
	if !(d.Blocks >= 1) || !(d.PerSM >= 1) {
		return fmt.Errorf("a kernel has at least 1 block, and at least 1 fits on a multiprocessor; these are %g and %g", d.Blocks, d.PerSM)
	}
	if d.Faulted > 0 && !PageFaults(p) {
		return fmt.Errorf("kernels on %s cannot fault managed memory in: faulted_bytes must be 0", p.ID)
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

// within returns an error if an amount is negative, too large or not a number.
func within(name string, n float64) error {
	if !(n >= 0 && n <= maxDemand) {
		return fmt.Errorf("%s is %g; it must be from 0 to %g", name, n, float64(maxDemand))
	}
	return nil
}

// maxDemand bounds every amount of a launch; it is more than a GPU processes in a day.
const maxDemand = 1e18
