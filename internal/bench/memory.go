package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// Memory selects how the data of a workload move between host and device.
type Memory uint8

const (
	Pinned   Memory = iota // copies to and from pinned host memory, which are operations of the trace
	Prefetch               // managed memory with prefetches, which are operations of the trace
	Managed                // managed memory that moves when a kernel accesses it
	AsSaved                // what a saved program declares
)

var memoryNames = [...]string{Pinned: "pinned", Prefetch: "prefetch", Managed: "managed", AsSaved: "as saved"}

func (m Memory) String() string {
	if int(m) >= len(memoryNames) {
		return fmt.Sprintf("memory(%d)", uint8(m))
	}
	return memoryNames[m]
}

// ParseMemory returns the mode with the given name.
func ParseMemory(name string) (Memory, error) {
	for m, n := range memoryNames[:AsSaved] {
		if n == name {
			return Memory(m), nil
		}
	}
	return 0, fmt.Errorf("unknown memory mode %q: use pinned, prefetch or managed", name)
}

// Fits returns an error if a device does not support the mode.
func (m Memory) Fits(i device.Info) error {
	if m == Prefetch && i.ComputeMajor < prefetches {
		return fmt.Errorf("%s has compute capability %d.%d, but prefetching requires %d.0: use the memory mode managed or pinned",
			i.ID, i.ComputeMajor, i.ComputeMinor, prefetches)
	}
	return nil
}
