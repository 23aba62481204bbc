//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

// defaultAttributes returns the initial attributes of a stream: no window of memory
// to keep in L2, waiting as the driver chooses, one domain of memory ordering.
func defaultAttributes() map[C.CUstreamAttrID]C.CUstreamAttrValue {
	return map[C.CUstreamAttrID]C.CUstreamAttrValue{
		C.CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:   {},
		C.CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY: {C.CU_SYNC_POLICY_AUTO},
		C.CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:    {0, 1},
		C.CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:        {C.CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT},
	}
}

// attribute returns a stream's attribute. All except the priority are hints that
// the device ignores.
func (s *stream) attribute(id C.CUstreamAttrID) (C.CUstreamAttrValue, error) {
	if id == C.CU_STREAM_ATTRIBUTE_PRIORITY {
		return kernelAttributes{}.setNumber(id, s.priority)[0].value, nil
	}
	v, ok := s.attributes[id]
	if !ok {
		v, ok = defaultAttributes()[id]
	}
	if !ok {
		return v, invalidValue
	}
	return v, nil
}

func (s *stream) setAttribute(id C.CUstreamAttrID, v C.CUstreamAttrValue) error {
	if _, err := s.attribute(id); err != nil {
		return err
	}
	if id == C.CU_STREAM_ATTRIBUTE_PRIORITY {
		s.priority = s.context.clampPriority(number(&v))
		return s.context.sim.SetPriority(s.sim, s.priority)
	}
	if s.attributes == nil {
		s.attributes = map[C.CUstreamAttrID]C.CUstreamAttrValue{}
	}
	s.attributes[id] = v
	return nil
}

//export sim_cuStreamGetAttribute
func sim_cuStreamGetAttribute(h C.CUstream, id C.CUstreamAttrID, out *C.CUstreamAttrValue) C.CUresult {
	return withStream(h, func(s *stream) error {
		if out == nil {
			return invalidValue
		}
		v, err := s.attribute(id)
		if err == nil {
			*out = v
		}
		return err
	})
}

//export sim_cuStreamSetAttribute
func sim_cuStreamSetAttribute(h C.CUstream, id C.CUstreamAttrID, v *C.CUstreamAttrValue) C.CUresult {
	return withStream(h, func(s *stream) error {
		if v == nil {
			return invalidValue
		}
		return s.setAttribute(id, *v)
	})
}

//export sim_cuStreamCopyAttributes
func sim_cuStreamCopyAttributes(dst, src C.CUstream) C.CUresult {
	return withStream(dst, func(to *stream) error {
		from, err := driver.caller.stream(src)
		if err != nil {
			return err
		}
		if to.context != from.context {
			return invalidValue
		}
		for id := range defaultAttributes() {
			v, _ := from.attribute(id)
			if err := to.setAttribute(id, v); err != nil {
				return err
			}
		}
		return nil
	})
}
