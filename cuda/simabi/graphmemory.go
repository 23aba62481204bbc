//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// graphMemory is what a node of a graph allocates. Only one graph may free it again,
// or several others, but not its own and others.
type graphMemory struct {
	context *context
	at      device.Ptr
	params  C.CUDA_MEM_ALLOC_NODE_PARAMS_v1 // as the program gave them, with the address
	graph   *graph.Graph                    // that allocates it
	freedIn *graph.Graph                    // one that has a node which frees it, or nil
}

// graphMemories is all there is, by address.
var graphMemories = memoryTable{}

type memoryTable map[device.Ptr]*graphMemory

func init() { kinds = append(kinds, graphMemories, conditions) }

func (t memoryTable) forget(c *context) {
	for at, m := range t {
		if m.context == c {
			delete(t, at)
		}
	}
}

// free is cuMemFree of what a launch has left, which another thread of the context
// waits for.
func (m *graphMemory) free() error { return m.context.sim.Free(m.at) }

// freeIn is cuMemFreeAsync of that.
func (m *graphMemory) freeIn(s *stream) error { return s.submit(&sim.Release{At: m.at}) }

// hasMemoryNodes reports whether a graph allocates or frees memory. Then nothing can
// be taken out of it, it cannot be copied, and it has one instance at a time.
func hasMemoryNodes(g *graph.Graph) bool {
	for _, n := range g.Nodes() {
		if k := n.Params().Kind(); k == graph.MemAllocNode || k == graph.MemFreeNode {
			return true
		}
	}
	return false
}

// instances are those of graphs that have memory nodes.
var instances = map[*graph.Graph]*graphExec{}

// instantiated reports whether such a graph has its instance.
func instantiated(g *graph.Graph) bool {
	x := instances[g]
	return x != nil && !x.context.destroyed
}

func (x *graphExec) claim(g *graph.Graph) {
	if hasMemoryNodes(g) {
		instances[g], x.of = x, g
	}
}

func (x *graphExec) disclaim() {
	if instances[x.of] == x {
		delete(instances, x.of)
	}
}

// eachContext calls do for the contexts of a GPU that are alive.
func (g *gpu) eachContext(do func(*context)) {
	seen := map[*context]bool{}
	for _, m := range graphMemories {
		if c := m.context; c.gpu == g && !c.destroyed && !seen[c] {
			seen[c] = true
			do(c)
		}
	}
}

// graphMemoryUse adds up what the contexts of a GPU use.
func (g *gpu) graphMemoryUse() (sum sim.GraphMemory) {
	g.eachContext(func(c *context) {
		u := c.sim.GraphMemory()
		sum.Used += u.Used
		sum.UsedHigh += u.UsedHigh
		sum.Reserved += u.Reserved
		sum.ReservedHigh += u.ReservedHigh
	})
	return sum
}

//export sim_cuDeviceGraphMemTrim
func sim_cuDeviceGraphMemTrim(dev C.CUdevice) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		g.eachContext(func(c *context) { c.sim.TrimGraphMemory() })
		return nil
	})
}

//export sim_cuDeviceGetGraphMemAttribute
func sim_cuDeviceGetGraphMemAttribute(dev C.CUdevice, attr C.CUgraphMem_attribute, value unsafe.Pointer) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		use := g.graphMemoryUse()
		n, known := map[C.CUgraphMem_attribute]int64{
			C.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: use.Used, C.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: use.UsedHigh,
			C.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: use.Reserved, C.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: use.ReservedHigh,
		}[attr]
		if !known || value == nil {
			return invalidValue
		}
		*(*C.cuuint64_t)(value) = C.cuuint64_t(n)
		return nil
	})
}

// The highest values can be set to 0, which begins them anew, and nothing else.
//
//export sim_cuDeviceSetGraphMemAttribute
func sim_cuDeviceSetGraphMemAttribute(dev C.CUdevice, attr C.CUgraphMem_attribute, value unsafe.Pointer) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		used, reserved := attr == C.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, attr == C.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH
		if !used && !reserved || value == nil || *(*C.cuuint64_t)(value) != 0 {
			return invalidValue
		}
		g.eachContext(func(c *context) { c.sim.ResetGraphMemoryHighs(used, reserved) })
		return nil
	})
}
