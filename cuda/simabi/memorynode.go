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

// allocNode allocates memory, freeNode frees it. Their parameters cannot change.
type (
	allocNode struct {
		*graphMemory
		out *C.CUdeviceptr // receives the address, for the caller
	}
	freeNode struct{ *graphMemory }
)

func (*allocNode) Kind() graph.Kind { return graph.MemAllocNode }
func (*freeNode) Kind() graph.Kind  { return graph.MemFreeNode }

func (m *graphMemory) home() *context { return m.context }

func (n *allocNode) lower() (sim.GraphNode, error) { return sim.GraphNode{Alloc: n.at}, nil }
func (n *freeNode) lower() (sim.GraphNode, error)  { return sim.GraphNode{Free: n.at}, nil }

func (n *allocNode) Becomes(next graph.Params) graph.Reason {
	return n.same(next.(*allocNode).graphMemory)
}
func (n *freeNode) Becomes(next graph.Params) graph.Reason {
	return n.same(next.(*freeNode).graphMemory)
}

func (m *graphMemory) same(other *graphMemory) graph.Reason {
	if m != other {
		return graph.NotSupported
	}
	return graph.Same
}

// allocParams reserves the address at which each launch will allocate memory. The
// memory belongs to the current context, which must be on the device in p.
func allocParams(p *C.CUDA_MEM_ALLOC_NODE_PARAMS_v1) params {
	return func(t *thread, old graph.Params) (graph.Params, error) {
		if old != nil {
			return nil, notSupported
		}
		c, err := t.context()
		if err != nil {
			return nil, err
		}
		if err := c.canAllocate(p); err != nil {
			return nil, err
		}
		at, err := c.sim.ReserveGraphMemory(int64(p.bytesize))
		if err != nil {
			return nil, err
		}
		m := &graphMemory{context: c, at: at, params: *p}
		m.params.dptr = C.CUdeviceptr(at)
		graphMemories[at] = m
		return &allocNode{m, &p.dptr}, nil
	}
}

// canAllocate returns an error if the context cannot allocate memory with these properties: only device memory of the
// context's own GPU, without access for other GPUs and without export to other processes.
func (c *context) canAllocate(p *C.CUDA_MEM_ALLOC_NODE_PARAMS_v1) error {
	const maxBytes = 1 << 46
	switch props := &p.poolProps; {
	case p.bytesize == 0, props.allocType != C.CU_MEM_ALLOCATION_TYPE_PINNED, props.location._type != C.CU_MEM_LOCATION_TYPE_DEVICE,
		p.accessDescs == nil && p.accessDescCount > 0:
		return invalidValue
	case p.bytesize > maxBytes:
		return status(C.CUDA_ERROR_OUT_OF_MEMORY)
	case props.handleTypes != C.CU_MEM_HANDLE_TYPE_NONE: // the memory cannot be exported to other processes
		return notSupported
	default:
		if _, err := gpuOf(C.CUdevice(props.location.id)); err != nil {
			return invalidValue
		}
		if int(props.location.id) != c.gpu.ordinal {
			return notSupported
		}
	}
	list, err := listAt(p.accessDescs, p.accessDescCount)
	if err != nil {
		return err
	}
	for _, access := range list {
		if access.location.id != p.poolProps.location.id {
			return notSupported // a graph cannot have contexts of several devices
		}
	}
	return nil
}

// announce stores the address for the caller.
func (n *allocNode) announce(node *graph.Node) {
	n.graph = node.Graph()
	*n.out, n.out = C.CUdeviceptr(n.at), nil
}

// freeParams frees the memory of a node, of the same graph or another.
func freeParams(p C.CUdeviceptr) params {
	return func(_ *thread, old graph.Params) (graph.Params, error) {
		if old != nil {
			return nil, notSupported
		}
		m := graphMemories[device.Ptr(p)]
		if m == nil {
			return nil, invalidValue
		}
		return &freeNode{m}, nil
	}
}

func (n *freeNode) announce(node *graph.Node) { n.freedIn = node.Graph() }

// admitsMemory returns an error if a graph cannot have a node that allocates or
// frees.
func admitsMemory(g *graph.Graph, p graph.Params) error {
	if g.Owner() != nil {
		return invalidValue // it is nested in another graph
	}
	f, ok := p.(*freeNode)
	if !ok {
		return nil
	}
	for _, n := range g.Nodes() {
		if other, ok := n.Params().(*freeNode); ok && other.graphMemory == f.graphMemory {
			return invalidValue
		}
	}
	if f.freedIn != nil && (f.freedIn == f.graph) != (g == f.graph) {
		return invalidValue // both its own graph and another would free it
	}
	return nil
}

// captureAlloc adds a node for an allocation in a captured stream.
func (s *stream) captureAlloc(out *C.CUdeviceptr, p *C.CUDA_MEM_ALLOC_NODE_PARAMS_v1) error {
	a, err := allocParams(p)(driver.caller, nil)
	if err != nil {
		return err
	}
	if err = s.add(a); err != nil {
		a.(*allocNode).forget()
		return err
	}
	*out = p.dptr
	return nil
}

// forget is called when the node has been destroyed with its graph.
func (n *allocNode) forget() {
	n.graph = nil
	if !n.context.destroyed {
		if err := n.context.sim.DropGraphMemory(n.at); err != nil {
			explain(err)
		}
	}
}

//export sim_cuGraphAddMemAllocNode
func sim_cuGraphAddMemAllocNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_MEM_ALLOC_NODE_PARAMS_v1) C.CUresult {
	if p == nil {
		return addNode(out, g, deps, n, refuse(invalidValue))
	}
	return addNode(out, g, deps, n, allocParams(p))
}

//export sim_cuGraphMemAllocNodeGetParams
func sim_cuGraphMemAllocNodeGetParams(h C.CUgraphNode, out *C.CUDA_MEM_ALLOC_NODE_PARAMS_v1) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, n *allocNode) error {
		*out = n.params
		return nil
	})
}

//export sim_cuGraphAddMemFreeNode
func sim_cuGraphAddMemFreeNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p C.CUdeviceptr) C.CUresult {
	return addNode(out, g, deps, n, freeParams(p))
}

//export sim_cuGraphMemFreeNodeGetParams
func sim_cuGraphMemFreeNodeGetParams(h C.CUgraphNode, out *C.CUdeviceptr) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, n *freeNode) error {
		*out = n.params.dptr
		return nil
	})
}
