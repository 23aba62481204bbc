package sim

import (
	"github.com/reprise-gpu/reprise/device"
)

// PoisonWord is the pattern of poisoned memory: a NaN as a float32 and, twice, as a float64, and a large negative integer.
const PoisonWord uint32 = 0xfff7a5a5

// poisonNew fills a new allocation with PoisonWord if the options say so. It takes no virtual time. The bytes stay
// uninitialised for the detection of reads of such memory.
func (d *Device) poisonNew(p device.Ptr, bytes int64) {
	if !d.poisoned {
		return
	}
	if b, err := d.memory.Bytes(uint64(p), bytes); err == nil {
		fill(b, PoisonWord, 4)
	}
}
