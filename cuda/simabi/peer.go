//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import "slices"

// GPUs are peers unless $REPRISE_SIM_MACHINE names a machine without a link between them: a context's kernels can access
// the memory of another context once that is enabled. These accesses, and copies, cross the link of the machine, or the
// links to the host if there is no machine.

//export sim_cuDeviceCanAccessPeer
func sim_cuDeviceCanAccessPeer(can *C.int, dev, peer C.CUdevice) C.CUresult {
	return onDevice(dev, func(g *gpu) error {
		if can == nil {
			return invalidValue
		}
		p, err := gpuOf(peer)
		if err != nil {
			return err
		}
		*can = 0
		if g.sim.CanPeer(p.sim) {
			*can = 1
		}
		return nil
	})
}

// sim_cuDeviceGetP2PAttribute returns 1 for all abilities of a pair of peers, and 0, the best, for the performance rank.
//
//export sim_cuDeviceGetP2PAttribute
func sim_cuDeviceGetP2PAttribute(value *C.int, a C.CUdevice_P2PAttribute, src, dst C.CUdevice) C.CUresult {
	return onDevice(src, func(g *gpu) error {
		if value == nil || a < C.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK || a > C.CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED {
			return invalidValue
		}
		other, err := gpuOf(dst)
		if err != nil || other == g {
			return status(C.CUDA_ERROR_INVALID_DEVICE)
		}
		*value = 0 // also the best rank
		if a != C.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK && g.sim.CanPeer(other.sim) {
			*value = 1
		}
		return nil
	})
}

// peer returns a context other than c.
func (c *context) peer(h C.CUcontext) (*context, error) {
	p, err := contextOf(h)
	if err != nil || p == c || p.destroyed {
		return nil, invalidContext
	}
	return p, nil
}

// sim_cuCtxEnablePeerAccess lets kernels of the current context access the memory of a context on another GPU.
//
//export sim_cuCtxEnablePeerAccess
func sim_cuCtxEnablePeerAccess(h C.CUcontext, flags C.uint) C.CUresult {
	return inContext(func(c *context) error {
		if flags != 0 {
			return invalidValue
		}
		p, err := c.peer(h)
		switch {
		case err != nil:
			return err
		case !c.gpu.sim.CanPeer(p.gpu.sim):
			return status(C.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
		case slices.Contains(c.peers, p.id):
			return status(C.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
		}
		if err := c.sim.EnablePeer(p.sim); err != nil {
			return err
		}
		c.peers = append(c.peers, p.id)
		return nil
	})
}

//export sim_cuCtxDisablePeerAccess
func sim_cuCtxDisablePeerAccess(h C.CUcontext) C.CUresult {
	return inContext(func(c *context) error {
		p, err := c.peer(h)
		if err != nil {
			return err
		}
		i := slices.Index(c.peers, p.id)
		if i < 0 {
			return status(C.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
		}
		c.peers = slices.Delete(c.peers, i, i+1)
		c.sim.DisablePeer(p.sim)
		return nil
	})
}
