//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The memory of a graph's allocation node has one address for its whole life. It is allocated anew in each launch:
//
//	cuGraphAddMemAllocNode    the address is reserved
//	launch, at the node       memory is allocated at the address
//	launch, at a free node    it is freed: in the same launch, or in a launch of another graph;
//	  or cuMemFree(Async)     or by the host, if no free node of the same graph exists
//	next launch               fails if the memory is still allocated; an instance with autoFree frees it first
//	cuGraphDestroy            the address is released once no instance uses it
//
// Such graphs are restricted, as documented: no clones, no removal of nodes or edges, one instance at a time, and no
// memory nodes in child graphs or bodies.

// graphMemory is the memory that a node of a graph allocates. Nodes of its own
// graph may free it, or nodes of other graphs, but not both.
type graphMemory struct {
	context *context
	at      device.Ptr
	params  C.CUDA_MEM_ALLOC_NODE_PARAMS_v1 // the program's parameters, with the address
	graph   *graph.Graph                    // the graph that allocates it
	freedIn *graph.Graph                    // a graph with a node that frees it, or nil
}

// graphMemories contains all memory of graphs, by address.
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

// free is cuMemFree of memory that a launch has left allocated. Other threads of
// the context wait for it.
func (m *graphMemory) free() error { return m.context.sim.Free(m.at) }

// freeIn is cuMemFreeAsync of such memory.
func (m *graphMemory) freeIn(s *stream) error { return s.submit(&sim.Release{At: m.at}) }

// hasMemoryNodes reports whether a graph allocates or frees memory. Nodes of such a
// graph cannot be removed, it cannot be copied, and it has one instance at a time.
func hasMemoryNodes(g *graph.Graph) bool {
	for _, n := range g.Nodes() {
		if k := n.Params().Kind(); k == graph.MemAllocNode || k == graph.MemFreeNode {
			return true
		}
	}
	return false
}

// instances holds the instance of each graph with memory nodes.
var instances = map[*graph.Graph]*graphExec{}

// instantiated reports whether a graph with memory nodes has an instance.
func instantiated(g *graph.Graph) bool {
	x := instances[g]
	return x != nil && !x.context.destroyed
}

// claim records the instance of a graph with memory nodes, which may have only one.
func (x *graphExec) claim(g *graph.Graph) {
	if hasMemoryNodes(g) {
		instances[g], x.of = x, g
	}
}

// disclaim allows the graph to have another instance.
func (x *graphExec) disclaim() {
	if instances[x.of] == x {
		delete(instances, x.of)
	}
}

// eachContext calls do for the live contexts of a GPU.
func (g *gpu) eachContext(do func(*context)) {
	seen := map[*context]bool{}
	for _, m := range graphMemories {
		if c := m.context; c.gpu == g && !c.destroyed && !seen[c] {
			seen[c] = true
			do(c)
		}
	}
}

// graphMemoryUse returns the sum over the contexts of a GPU.
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

// Only the high watermarks can be set, and only to 0, which resets them.
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
