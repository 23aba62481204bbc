//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"bytes"
	"fmt"
	"os"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// All flags of cuGraphDebugDotPrint in CUDA 12.4.
const dotFlags = 1<<16 - 1

// dotter contains the flags of a call of cuGraphDebugDotPrint.
type dotter C.uint

// has reports whether a flag is set, or CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE, which implies all.
func (f dotter) has(flag C.uint) bool {
	return C.uint(f)&(flag|C.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0
}

// describe returns the lines of a node's label.
func (f dotter) describe(n *graph.Node) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES) {
		add("node %#x", uintptr(nodeHandle(n)))
	}
	switch p := n.Params().(type) {
	case *kernelNode:
		add("%s", p.function.info.Name)
		if f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS) {
			add("grid %v block %v shared %d", p.grid, p.block, p.shared)
		}
		if f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES) {
			own, _ := p.attributes.priority()
			add("cooperative %t priority %d", p.attributes.cooperative(), own)
		}
	case *memcpyNode:
		if c := &p.params; f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS) {
			add("%d x %d x %d bytes, memory type %d to %d", c.WidthInBytes, c.Height, c.Depth, c.srcMemoryType, c.dstMemoryType)
		}
	case *memsetNode:
		if m := &p.params; f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS) {
			add("%d x %d elements of %d bytes at %#x become %#x", m.width, m.height, m.elementSize, uint64(m.dst), uint32(m.value))
		}
	case *hostNode:
		if f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS) {
			add("function %p data %p", p.params.fn, p.params.userData)
		}
	case recordNode:
		f.event(add, p.event)
	case waitNode:
		f.event(add, p.event)
	}
	return lines
}

func (f dotter) event(add func(string, ...any), e *event) {
	if f.has(C.CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) {
		add("event %#x", uintptr(e.handle))
	}
}

// sim_cuGraphDebugDotPrint writes a graph in the language of Graphviz. Package importer reads the result.
//
//export sim_cuGraphDebugDotPrint
func sim_cuGraphDebugDotPrint(h C.CUgraph, path *C.char, flags C.uint) C.CUresult {
	return call(func(*thread) error {
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		if path == nil || flags&^dotFlags != 0 {
			return invalidValue
		}
		var text bytes.Buffer
		if err := graph.WriteDot(&text, g, dotter(flags).describe); err != nil {
			return err
		}
		if err := os.WriteFile(C.GoString(path), text.Bytes(), 0o644); err != nil {
			explain(err)
			return status(C.CUDA_ERROR_OPERATING_SYSTEM)
		}
		return nil
	})
}
