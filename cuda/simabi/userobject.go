//go:build cuda && cgo

package simabi

/*
#include <cuda.h>

static void destroy(CUhostFn f, void *data) { f(data); }
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// References to a user object:
//
//	cuUserObjectCreate(count), cuUserObjectRetain      own += count, all += count
//	cuUserObjectRelease                                own -= count, all -= count
//	cuGraphRetainUserObject                            the graph's references += count, all += count
//	  with CU_GRAPH_USER_OBJECT_MOVE                   the graph's references += count, own -= count
//	clone or instance of a graph                       the same references again, all += their number
//	end of a graph, clone or instance                  all -= its references
//
// The object is destroyed when all is 0. The references of an instance last until its launches have ended.

// userObject is an object of the program that graphs use. It is destroyed when no
// program, graph or instance refers to it.
type userObject struct {
	handle handle
	free   func()
	own    int // references of the program
	all    int // references of the program and of all graphs and instances
}

// userRefs counts the references of a graph or an instance.
type userRefs map[*userObject]int

var (
	userObjects handles[*userObject]
	graphRefs   = map[*graph.Graph]userRefs{}
)

func (*userObject) owner() *context { return nil }

// userObjectOf returns the object of a handle. As for graphs, a wrong handle is an invalid value.
func userObjectOf(h C.CUuserObject) (*userObject, error) {
	o, err := userObjects.get(of(unsafe.Pointer(h)))
	if err != nil {
		return nil, invalidValue
	}
	return o, nil
}

// release removes n references. An object without references is destroyed in a
// thread of the driver, as documented, since its destructor may block.
func (o *userObject) release(n int) {
	if o.all -= n; o.all == 0 {
		_, _ = userObjects.remove(o.handle)
		go o.free()
	}
}

// copy returns the same references and counts them again.
func (r userRefs) copy() userRefs {
	if len(r) == 0 {
		return nil
	}
	c := userRefs{}
	for o, n := range r {
		c[o] = n
		o.all += n
	}
	return c
}

// cloneGraph copies a graph with its references and those of the graphs nested in
// it.
func cloneGraph(g *graph.Graph) *graph.Graph {
	c := g.Clone()
	if len(graphRefs) > 0 {
		share(c, g)
	}
	return c
}

// share gives c, a clone of g, the references of g, at any depth.
func share(c, g *graph.Graph) {
	if r := graphRefs[g].copy(); r != nil {
		graphRefs[c] = r
	}
	for _, n := range g.Nodes() {
		if nest, ok := n.Params().(graph.Nest); ok {
			for i, b := range nest.Bodies() {
				share(c.Twin(n).Params().(graph.Nest).Bodies()[i], b)
			}
		}
	}
}

// release removes all references of a graph or an instance.
func (r userRefs) release() {
	for o, n := range r {
		o.release(n)
	}
}

// validCount reports whether n is a valid number of references.
func validCount(n C.uint) bool { return n > 0 && n <= math.MaxInt32 }

// sim_cuUserObjectCreate creates an object with a number of references of the program. The only permitted flag, which
// is required, states that the program does not wait for the destructor.
//
//export sim_cuUserObjectCreate
func sim_cuUserObjectCreate(out *C.CUuserObject, data unsafe.Pointer, destroy C.CUhostFn, count, flags C.uint) C.CUresult {
	return call(func(*thread) error {
		if out == nil || destroy == nil || !validCount(count) || flags != C.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC {
			return invalidValue
		}
		o := &userObject{own: int(count), all: int(count), free: func() { C.destroy(destroy, data) }}
		o.handle = userObjects.add(o)
		o.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuUserObjectRetain
func sim_cuUserObjectRetain(h C.CUuserObject, count C.uint) C.CUresult {
	return call(func(*thread) error {
		o, err := userObjectOf(h)
		if err != nil {
			return err
		}
		if !validCount(count) {
			return invalidValue
		}
		o.own += int(count)
		o.all += int(count)
		return nil
	})
}

//export sim_cuUserObjectRelease
func sim_cuUserObjectRelease(h C.CUuserObject, count C.uint) C.CUresult {
	return call(func(*thread) error {
		o, err := userObjectOf(h)
		if err != nil {
			return err
		}
		if !validCount(count) || int(count) > o.own {
			return invalidValue
		}
		o.own -= int(count)
		o.release(int(count))
		return nil
	})
}

//export sim_cuGraphRetainUserObject
func sim_cuGraphRetainUserObject(h C.CUgraph, object C.CUuserObject, count, flags C.uint) C.CUresult {
	return withObject(h, object, count, func(g *graph.Graph, o *userObject) error {
		move := flags == C.CU_GRAPH_USER_OBJECT_MOVE
		switch {
		case flags != 0 && !move, move && int(count) > o.own:
			return invalidValue
		case move: // the references were the program's
			o.own -= int(count)
		default:
			o.all += int(count)
		}
		if graphRefs[g] == nil {
			graphRefs[g] = userRefs{}
		}
		graphRefs[g][o] += int(count)
		return nil
	})
}

//export sim_cuGraphReleaseUserObject
func sim_cuGraphReleaseUserObject(h C.CUgraph, object C.CUuserObject, count C.uint) C.CUresult {
	return withObject(h, object, count, func(g *graph.Graph, o *userObject) error {
		if int(count) > graphRefs[g][o] {
			return invalidValue
		}
		if graphRefs[g][o] -= int(count); graphRefs[g][o] == 0 {
			delete(graphRefs[g], o)
		}
		o.release(int(count))
		return nil
	})
}

// withObject is call for a function of a graph and a user object.
func withObject(h C.CUgraph, object C.CUuserObject, count C.uint, body func(*graph.Graph, *userObject) error) C.CUresult {
	return call(func(*thread) error {
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		o, err := userObjectOf(object)
		if err != nil {
			return err
		}
		if !validCount(count) {
			return invalidValue
		}
		return body(g, o)
	})
}
