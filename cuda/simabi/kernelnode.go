//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// kernelNode launches a kernel in its function's context.
type kernelNode struct {
	function    *function
	kern        handle // the CUkernel in the parameters, or 0
	grid, block device.Dim3
	shared      uint32
	arguments   []byte // the parameter block
	attributes  kernelAttributes
	label       string // for errors
}

func (k *kernelNode) Kind() graph.Kind { return graph.KernelNode }
func (k *kernelNode) home() *context   { return k.function.module.context }

func (k *kernelNode) Becomes(next graph.Params) graph.Reason {
	n := next.(*kernelNode)
	switch {
	case n.home() != k.home():
		return graph.FunctionChangeUnsupported
	case n.attributes.cooperative() != k.attributes.cooperative():
		return graph.AttributesChanged
	}
	return graph.Same
}

func (k *kernelNode) lower() (sim.GraphNode, error) {
	n := sim.GraphNode{Work: &device.Launch{Function: k.function.sim, Grid: k.grid, Block: k.block, Shared: k.shared,
		Params: k.arguments, Cooperative: k.attributes.cooperative(), Label: k.label}}
	if p, ok := k.attributes.priority(); ok {
		n.Priority = &p
	}
	return n, nil
}

// newKernelNode converts parameters from C; v1 is a prefix of v2.
func newKernelNode(p *C.CUDA_KERNEL_NODE_PARAMS_v1, kern C.CUkernel, attributes kernelAttributes) (graph.Params, error) {
	name := of(unsafe.Pointer(p._func))
	if p._func == nil {
		name = of(unsafe.Pointer(kern))
	}
	f, err := functionNamed(name)
	if err != nil {
		return nil, err
	}
	k := &kernelNode{function: f, grid: dim(p.gridDimX, p.gridDimY, p.gridDimZ), block: dim(p.blockDimX, p.blockDimY, p.blockDimZ),
		shared: uint32(p.sharedMemBytes), attributes: attributes, label: label()}
	if p._func == nil {
		k.kern = name
	}
	if k.arguments, err = f.arguments(nil, p.kernelParams, p.extra); err != nil {
		return nil, err
	}
	if err := f.fits(k.shared); err != nil {
		return nil, err
	}
	return k, check(k)
}

// capturedKernel returns the node for a launch in a stream of the given priority.
func capturedKernel(f *function, l *device.Launch, priority int) *kernelNode {
	if l.Priority != 0 {
		priority = l.Priority
	}
	k := &kernelNode{function: f, grid: l.Grid, block: l.Block, shared: l.Shared, arguments: slices.Clone(l.Params)}
	k.attributes = k.attributes.setNumber(C.CU_LAUNCH_ATTRIBUTE_PRIORITY, priority)
	if l.Cooperative {
		k.attributes = k.attributes.setNumber(C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)
	}
	return k
}

// views is the C memory in which programs were shown the arguments of kernel nodes.
// It is valid until the node's parameters change.
var views = map[*graph.Node]unsafe.Pointer{}

// freeView frees the view of a node, if it has one.
func freeView(n *graph.Node) {
	C.free(views[n])
	delete(views, n)
}

// view returns an array of pointers to the node's arguments, which follow it in
// memory.
func (k *kernelNode) view(n *graph.Node) *unsafe.Pointer {
	params := k.function.info.Params
	if len(params) == 0 {
		return nil
	}
	if views[n] == nil {
		head := len(params) * int(unsafe.Sizeof(uintptr(0)))
		at := C.malloc(C.size_t(head + len(k.arguments)))
		block := unsafe.Add(at, head)
		copy(unsafe.Slice((*byte)(block), len(k.arguments)), k.arguments)
		for i, p := range params {
			unsafe.Slice((*unsafe.Pointer)(at), len(params))[i] = unsafe.Add(block, p.Offset)
		}
		views[n] = at
	}
	return (*unsafe.Pointer)(views[n])
}

// show stores the parameters of a node for the program.
func (k *kernelNode) show(n *graph.Node, out *C.CUDA_KERNEL_NODE_PARAMS_v1) {
	*out = C.CUDA_KERNEL_NODE_PARAMS_v1{
		gridDimX: C.uint(k.grid.X), gridDimY: C.uint(k.grid.Y), gridDimZ: C.uint(k.grid.Z),
		blockDimX: C.uint(k.block.X), blockDimY: C.uint(k.block.Y), blockDimZ: C.uint(k.block.Z),
		sharedMemBytes: C.uint(k.shared), kernelParams: k.view(n),
	}
	if k.kern == 0 {
		k.function.handle.put(unsafe.Pointer(&out._func))
	}
}

// plain returns the part of parameters that all versions have.
func plain(p *C.CUDA_KERNEL_NODE_PARAMS_v2) *C.CUDA_KERNEL_NODE_PARAMS_v1 {
	return (*C.CUDA_KERNEL_NODE_PARAMS_v1)(unsafe.Pointer(p))
}

// kernelParams returns new parameters of a node, with its current attributes.
func kernelParams(p *C.CUDA_KERNEL_NODE_PARAMS_v1, kern C.CUkernel) params {
	return func(_ *thread, old graph.Params) (graph.Params, error) {
		if p == nil {
			return nil, invalidValue
		}
		var attributes kernelAttributes
		if k, ok := old.(*kernelNode); ok {
			attributes = k.attributes
		}
		return newKernelNode(p, kern, attributes)
	}
}

// kernelParamsV2 is kernelParams for the form of CUDA 12, which may name a kernel of a library instead of a function.
func kernelParamsV2(p *C.CUDA_KERNEL_NODE_PARAMS_v2) params {
	if p == nil {
		return kernelParams(nil, nil)
	}
	return kernelParams(plain(p), p.kern)
}

//export sim_cuGraphAddKernelNode
func sim_cuGraphAddKernelNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_KERNEL_NODE_PARAMS_v1) C.CUresult {
	return addNode(out, g, deps, n, kernelParams(p, nil))
}

//export sim_cuGraphAddKernelNode_v2
func sim_cuGraphAddKernelNode_v2(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_KERNEL_NODE_PARAMS_v2) C.CUresult {
	return addNode(out, g, deps, n, kernelParamsV2(p))
}

//export sim_cuGraphKernelNodeGetParams
func sim_cuGraphKernelNodeGetParams(h C.CUgraphNode, out *C.CUDA_KERNEL_NODE_PARAMS_v1) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(n *graph.Node, k *kernelNode) error {
		k.show(n, out)
		return nil
	})
}

//export sim_cuGraphKernelNodeGetParams_v2
func sim_cuGraphKernelNodeGetParams_v2(h C.CUgraphNode, out *C.CUDA_KERNEL_NODE_PARAMS_v2) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(n *graph.Node, k *kernelNode) error {
		k.show(n, plain(out))
		out.kern, out.ctx = nil, nil
		if k.kern != 0 {
			k.kern.put(unsafe.Pointer(&out.kern))
			k.home().handle.put(unsafe.Pointer(&out.ctx))
		}
		return nil
	})
}

//export sim_cuGraphKernelNodeSetParams
func sim_cuGraphKernelNodeSetParams(h C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS_v1) C.CUresult {
	return setNode(h, graph.KernelNode, kernelParams(p, nil))
}

//export sim_cuGraphKernelNodeSetParams_v2
func sim_cuGraphKernelNodeSetParams_v2(h C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS_v2) C.CUresult {
	return setNode(h, graph.KernelNode, kernelParamsV2(p))
}

//export sim_cuGraphExecKernelNodeSetParams
func sim_cuGraphExecKernelNodeSetParams(x C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS_v1) C.CUresult {
	return setExecNode(x, n, graph.KernelNode, kernelParams(p, nil))
}

//export sim_cuGraphExecKernelNodeSetParams_v2
func sim_cuGraphExecKernelNodeSetParams_v2(x C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_KERNEL_NODE_PARAMS_v2) C.CUresult {
	return setExecNode(x, n, graph.KernelNode, kernelParamsV2(p))
}
