//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// kernelAttributes are the attributes of a kernel node that were set.
type kernelAttributes []kernelAttribute

type kernelAttribute struct {
	id    C.CUlaunchAttributeID
	value C.CUlaunchAttributeValue
}

// get returns an attribute's value, all zero if it was not set.
func (a kernelAttributes) get(id C.CUlaunchAttributeID) (v C.CUlaunchAttributeValue, ok bool) {
	for i := range a {
		if a[i].id == id {
			return a[i].value, true
		}
	}
	return v, false
}

// set returns a copy of the list with the value in it.
func (a kernelAttributes) set(id C.CUlaunchAttributeID, v *C.CUlaunchAttributeValue) kernelAttributes {
	a = slices.DeleteFunc(slices.Clone(a), func(x kernelAttribute) bool { return x.id == id })
	return append(a, kernelAttribute{id, *v})
}

func (a kernelAttributes) setNumber(id C.CUlaunchAttributeID, n int) kernelAttributes {
	var v C.CUlaunchAttributeValue
	*(*C.int)(unsafe.Pointer(&v)) = C.int(n)
	return a.set(id, &v)
}

func (a kernelAttributes) cooperative() bool {
	v, _ := a.get(C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
	return number(&v) != 0
}

// priority returns the node's own priority, if it has one.
func (a kernelAttributes) priority() (p int, ok bool) {
	v, ok := a.get(C.CU_LAUNCH_ATTRIBUTE_PRIORITY)
	return number(&v), ok
}

// number returns the value of an attribute of type int.
func number(v *C.CUlaunchAttributeValue) int { return int(*(*C.int)(unsafe.Pointer(v))) }

// validAttribute returns an error if a kernel node cannot have an attribute.
// Attributes without effect here are stored.
func validAttribute(id C.CUlaunchAttributeID, v *C.CUlaunchAttributeValue) error {
	switch id {
	case C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, C.CU_LAUNCH_ATTRIBUTE_PRIORITY, C.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
		C.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, C.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
		C.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		return nil
	case C.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		if v != nil && *(*[3]C.uint)(unsafe.Pointer(v)) != [3]C.uint{1, 1, 1} {
			return notSupported
		}
		return nil
	case C.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return notSupported
	}
	return invalidValue
}

//export sim_cuGraphKernelNodeGetAttribute
func sim_cuGraphKernelNodeGetAttribute(h C.CUgraphNode, id C.CUlaunchAttributeID, out *C.CUlaunchAttributeValue) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, k *kernelNode) error {
		if err := validAttribute(id, nil); err != nil {
			return err
		}
		*out, _ = k.attributes.get(id)
		return nil
	})
}

//export sim_cuGraphKernelNodeSetAttribute
func sim_cuGraphKernelNodeSetAttribute(h C.CUgraphNode, id C.CUlaunchAttributeID, v *C.CUlaunchAttributeValue) C.CUresult {
	return setAttributes(h, func(a kernelAttributes) (kernelAttributes, error) {
		if v == nil {
			return nil, invalidValue
		}
		return a.set(id, v), validAttribute(id, v)
	})
}

//export sim_cuGraphKernelNodeCopyAttributes
func sim_cuGraphKernelNodeCopyAttributes(dst, src C.CUgraphNode) C.CUresult {
	return setAttributes(dst, func(kernelAttributes) (kernelAttributes, error) {
		n, err := nodeOf(src)
		if err != nil {
			return nil, err
		}
		k, ok := n.Params().(*kernelNode)
		if !ok {
			return nil, invalidValue
		}
		return k.attributes, nil
	})
}

// setAttributes replaces the attributes of a kernel node by the result of change, if the device accepts the node.
func setAttributes(h C.CUgraphNode, change func(kernelAttributes) (kernelAttributes, error)) C.CUresult {
	return edit(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		k, ok := n.Params().(*kernelNode)
		if !ok {
			return invalidValue
		}
		changed := *k
		if changed.attributes, err = change(k.attributes); err != nil {
			return err
		}
		if err := check(&changed); err != nil {
			return err
		}
		n.SetParams(&changed)
		return nil
	})
}
