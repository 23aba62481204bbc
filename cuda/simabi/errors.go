//go:build cuda

package simabi

// #include "errors.h"
import "C"

//export sim_cuGetErrorName
func sim_cuGetErrorName(code C.CUresult, name **C.char) C.CUresult {
	if name == nil {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	*name = C.simabi_error_name(code)
	if *name == nil {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	return C.CUDA_SUCCESS
}
