package distribute

import "github.com/reprise-gpu/reprise/ir"

// placer chooses the devices of launches that run whole. A launch runs where earlier such launches have written most of the bytes
// that it accesses, so that a chain of launches stays on one device. Independent ones go to the device that has had the
// fewest threads for its weight. It is a list schedule without times: Graham, "Bounds on Multiprocessing Timing
// Anomalies", 1969.
type placer struct {
	holders map[ir.BufferID]int32 // of buffers whose last writer was such a launch: its device
	threads []float64             // by device: of such launches so far, divided by its weight
}

// device returns the device for a launch with the given accesses.
func (p *placer) device(uses []ir.Access) int32 {
	bytes := make([]int64, len(p.threads))
	best := int32(0)
	for _, a := range uses {
		if d, is := p.holders[a.Buffer]; is {
			bytes[d] += a.Hi - a.Lo
		}
	}
	for d := range bytes {
		if bytes[d] > bytes[best] || bytes[d] == bytes[best] && p.threads[d] < p.threads[best] {
			best = int32(d)
		}
	}
	return best
}

// note notes a decision for an operation.
func (p *placer) note(op *ir.Op, d *Decision, weight func(dev int32) float64) {
	whole := d.How == Whole && op.Launch != nil && len(d.Chunks) == 1
	if whole {
		dev := d.Chunks[0].Device
		p.threads[dev] += float64(op.Launch.Grid.Count()) * float64(op.Launch.Block.Count()) / weight(dev)
	}
	var scratch [2]ir.Access
	for _, a := range op.Accesses(&scratch) {
		switch {
		case !a.Mode.Writes():
		case whole:
			p.holders[a.Buffer] = d.Chunks[0].Device
		default:
			delete(p.holders, a.Buffer)
		}
	}
}
