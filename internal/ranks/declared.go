package ranks

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// held returns the declared bytes of a launch without those that the device does not hold: other buffers may have their
// addresses.
func (m *allocations) held(l *ir.Launch, list []device.Declared) []device.Declared {
	kept := list[:0]
	for _, d := range list {
		a := &l.Args[d.Arg]
		part := m.part[a.Buffer]
		skip := max(0, part.Lo-a.Offset)
		d.Bytes = min(d.Bytes, part.Hi-a.Offset) - skip
		if d.Bytes < 1 {
			continue
		}
		d.Ptr += device.Ptr(skip)
		d.Before, d.After = d.Before+skip, d.After-skip
		kept = append(kept, d)
	}
	return kept
}
