//go:build cuda

package simabi

// #include <cuda.h>
import "C"

// Kernels of one simulated GPU do not reach the memory of another; copies between them
// go through the host, as they do on a machine whose GPUs are no peers.

//export sim_cuDeviceCanAccessPeer
func sim_cuDeviceCanAccessPeer(can *C.int, dev, peer C.CUdevice) C.CUresult {
	return onDevice(dev, func(*gpu) error {
		if can == nil {
			return invalidValue
		}
		_, err := gpuOf(peer)
		if err == nil {
			*can = 0
		}
		return err
	})
}

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
		*value = 0
		return nil
	})
}

// peer is a context other than c.
func (c *context) peer(h C.CUcontext) (*context, error) {
	p, err := contextOf(h)
	if err != nil || p == c {
		return nil, invalidContext
	}
	return p, nil
}

//export sim_cuCtxEnablePeerAccess
func sim_cuCtxEnablePeerAccess(h C.CUcontext, flags C.uint) C.CUresult {
	return inContext(func(c *context) error {
		if flags != 0 {
			return invalidValue
		}
		if _, err := c.peer(h); err != nil {
			return err
		}
		return status(C.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
	})
}

//export sim_cuCtxDisablePeerAccess
func sim_cuCtxDisablePeerAccess(h C.CUcontext) C.CUresult {
	return inContext(func(c *context) error {
		if _, err := c.peer(h); err != nil {
			return err
		}
		return status(C.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
	})
}
