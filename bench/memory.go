package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// Memory is how the data of a workload travel between host and device.
type Memory uint8

const (
	Pinned   Memory = iota // explicit copies from and to pinned host memory, which are operations of the trace
	Prefetch               // managed memory, prefetched by operations of the trace
	Managed                // managed memory that moves when a kernel touches it
)

var memoryNames = [...]string{Pinned: "pinned", Prefetch: "prefetch", Managed: "managed"}

func (m Memory) String() string {
	if int(m) >= len(memoryNames) {
		return fmt.Sprintf("memory(%d)", uint8(m))
	}
	return memoryNames[m]
}

// ParseMemory returns the mode of that name.
func ParseMemory(name string) (Memory, error) {
	for m, n := range memoryNames {
		if n == name {
			return Memory(m), nil
		}
	}
	return 0, fmt.Errorf("unknown memory mode %q: use pinned, prefetch or managed", name)
}

// Fits reports why a device does not have the mode.
func (m Memory) Fits(i device.Info) error {
	if m == Prefetch && i.ComputeMajor < prefetches {
		return fmt.Errorf("%s has compute capability %d.%d, and memory is prefetched from %d.0 on: use the memory mode managed or pinned",
			i.ID, i.ComputeMajor, i.ComputeMinor, prefetches)
	}
	return nil
}
