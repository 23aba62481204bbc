//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import "github.com/reprise-gpu/reprise/internal/sim"

// copyPeer copies a box between contexts. With inOrder, all earlier work in the
// contexts of both sides and of the stream precedes the copy, and all later work
// follows it.
func copyPeer(h C.CUstream, inOrder bool, to, from C.CUcontext, dst, src *boxSide, width, height, depth C.size_t) C.CUresult {
	return inStream(h, func(s *stream) error {
		var sides []*sim.Device
		for _, end := range []struct {
			of   C.CUcontext
			side *boxSide
		}{{to, dst}, {from, src}} {
			if end.side.kind == C.CU_MEMORYTYPE_HOST {
				continue
			}
			c, err := contextOf(end.of)
			if err == nil && c.destroyed {
				err = status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
			}
			if err != nil {
				return err
			}
			sides = append(sides, c.sim)
		}
		if inOrder && !s.capture.Capturing() {
			return s.copyInOrder(sides, dst, src, width, height, depth)
		}
		return s.copyBox(false, dst, src, width, height, depth)
	})
}

// copyInOrder copies after all earlier work in the contexts of sides and before all later work there.
func (s *stream) copyInOrder(sides []*sim.Device, dst, src *boxSide, width, height, depth C.size_t) error {
	if err := s.context.sim.FollowAll(s.sim, sides...); err != nil {
		return err
	}
	if err := s.copyBox(false, dst, src, width, height, depth); err != nil {
		return err
	}
	return s.context.sim.PrecedeAll(s.sim, sides...)
}

// sim_cuMemcpyPeer is ordered with all earlier and later work of both contexts, but does not wait for the copy.
//
//export sim_cuMemcpyPeer
func sim_cuMemcpyPeer(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t) C.CUresult {
	return copyPeer(nil, true, to, from, deviceSide(dst), deviceSide(src), n, 1, 1)
}

// sim_cuMemcpyPeerAsync is ordered only with the work of its stream.
//
//export sim_cuMemcpyPeerAsync
func sim_cuMemcpyPeerAsync(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t, h C.CUstream) C.CUresult {
	return copyPeer(h, false, to, from, deviceSide(dst), deviceSide(src), n, 1, 1)
}

//export sim_cuMemcpy3DPeer
func sim_cuMemcpy3DPeer(p *C.CUDA_MEMCPY3D_PEER) C.CUresult { return copy3DPeer(nil, true, p) }

//export sim_cuMemcpy3DPeerAsync
func sim_cuMemcpy3DPeerAsync(p *C.CUDA_MEMCPY3D_PEER, h C.CUstream) C.CUresult {
	return copy3DPeer(h, false, p)
}

func copy3DPeer(h C.CUstream, inOrder bool, p *C.CUDA_MEMCPY3D_PEER) C.CUresult {
	if p == nil {
		return call(func(*thread) error { return invalidValue })
	}
	dst := &boxSide{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight, p.dstLOD}
	src := &boxSide{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight, p.srcLOD}
	return copyPeer(h, inOrder, p.dstContext, p.srcContext, dst, src, p.WidthInBytes, p.Height, p.Depth)
}
