//go:build cuda

package simabi

// #include <cuda.h>
import "C"

// settle waits for the work of other contexts that a copy between contexts must not
// overtake.
func (c *context) settle(others ...C.CUcontext) error {
	for _, h := range others {
		o, err := contextOf(h)
		switch {
		case err != nil:
			return err
		case o.destroyed:
			return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		case o == c:
			continue
		}
		if err := o.enter().sim.SynchronizeAll(); err != nil {
			return err
		}
	}
	c.enter()
	return nil
}

// copyPeer copies a box between contexts.
func copyPeer(h C.CUstream, to, from C.CUcontext, dst, src *boxSide, width, height, depth C.size_t) C.CUresult {
	return inStream(h, func(s *stream) error {
		var others []C.CUcontext
		if dst.kind != C.CU_MEMORYTYPE_HOST {
			others = append(others, to)
		}
		if src.kind != C.CU_MEMORYTYPE_HOST {
			others = append(others, from)
		}
		if err := s.context.settle(others...); err != nil {
			return err
		}
		return s.copyBox(false, dst, src, width, height, depth)
	})
}

//export sim_cuMemcpyPeer
func sim_cuMemcpyPeer(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t) C.CUresult {
	return copyPeer(nil, to, from, deviceSide(dst), deviceSide(src), n, 1, 1)
}

//export sim_cuMemcpyPeerAsync
func sim_cuMemcpyPeerAsync(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t, h C.CUstream) C.CUresult {
	return copyPeer(h, to, from, deviceSide(dst), deviceSide(src), n, 1, 1)
}

//export sim_cuMemcpy3DPeer
func sim_cuMemcpy3DPeer(p *C.CUDA_MEMCPY3D_PEER) C.CUresult { return sim_cuMemcpy3DPeerAsync(p, nil) }

//export sim_cuMemcpy3DPeerAsync
func sim_cuMemcpy3DPeerAsync(p *C.CUDA_MEMCPY3D_PEER, h C.CUstream) C.CUresult {
	if p == nil {
		return call(func(*thread) error { return invalidValue })
	}
	dst := &boxSide{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight, p.dstLOD}
	src := &boxSide{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight, p.srcLOD}
	return copyPeer(h, p.dstContext, p.srcContext, dst, src, p.WidthInBytes, p.Height, p.Depth)
}
