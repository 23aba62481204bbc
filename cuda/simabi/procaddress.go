//go:build cuda && cgo

package simabi

// #include "procaddress.h"
import "C"

import "unsafe"

// sim_cuGetProcAddress_v2 returns the newest form that a program of the given release can call. A
// release newer than the driver's gets the driver's newest.
//
//export sim_cuGetProcAddress_v2
func sim_cuGetProcAddress_v2(symbol *C.char, function *unsafe.Pointer, release C.int, flags C.cuuint64_t, why *C.CUdriverProcAddressQueryResult) C.CUresult {
	if symbol == nil || function == nil || flags > C.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM {
		return refused(invalidValue)
	}
	var perThread C.int
	if flags == C.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM {
		perThread = 1
	}
	var reason C.CUdriverProcAddressQueryResult
	*function = C.simabi_proc_address(symbol, release, perThread, &reason)
	if why != nil {
		*why = reason
	}
	return C.CUDA_SUCCESS
}

// sim_cuGetProcAddress is the form before CUDA 12, in which a missing function is an error.
//
//export sim_cuGetProcAddress
func sim_cuGetProcAddress(symbol *C.char, function *unsafe.Pointer, release C.int, flags C.cuuint64_t) C.CUresult {
	answer := sim_cuGetProcAddress_v2(symbol, function, release, flags, nil)
	if answer == C.CUDA_SUCCESS && *function == nil {
		return refused(status(C.CUDA_ERROR_NOT_FOUND))
	}
	return answer
}
