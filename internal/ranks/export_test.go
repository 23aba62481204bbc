package ranks

import (
	"bytes"

	"github.com/reprise-gpu/reprise/device"
)

// PoisonStale overwrites the bytes of the devices of this rank that are not fresh, so that a step that reads them gives other
// results.
func (p *Plan) PoisonStale() error {
	for b, ranges := range p.held() {
		for _, h := range ranges {
			for d, dev := range p.rank.devices {
				part := p.memory[d].part[b]
				lo, hi := max(h.Lo, part.Lo), min(h.Hi, part.Hi)
				if lo >= hi || h.On(p.rank.first+int32(d)) {
					continue
				}
				if err := dev.Write(p.memory[d].at[b]+device.Ptr(lo-part.Lo), bytes.Repeat([]byte{0xa5}, int(hi-lo))); err != nil {
					return p.at(d, err)
				}
			}
		}
	}
	return nil
}
