//go:build cuda

package simabi

// #include "errors.h"
import "C"

// These two need no cuInit.

//export sim_cuGetErrorName
func sim_cuGetErrorName(code C.CUresult, name **C.char) C.CUresult {
	return putStatic(name, C.simabi_error_name(code))
}

//export sim_cuGetErrorString
func sim_cuGetErrorString(code C.CUresult, text **C.char) C.CUresult {
	return putStatic(text, C.simabi_error_string(code))
}

// putStatic stores a text, which is null when there is none for a code.
func putStatic(to **C.char, text *C.char) C.CUresult {
	if to == nil {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	*to = text
	if text == nil {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	return C.CUDA_SUCCESS
}
