// Package libcudanull contains a driver that does nothing: null.c, which `make libcudanull`
// builds as build/libcudanull.so. Every call returns success at once. The remaining time of a
// replay is therefore the host's cost of submitting it. Programs
// that are linked with internal/lazycuda, in Go or in C++, select it with REPRISE_LIBCUDA:
//
//	REPRISE_LIBCUDA=build/libcudanull.so PROGRAM
//
// It returns handles, counts the live ones, and counts calls unless repriseCount(0) switches that off. It implements
// the functions that package cuda uses. All others return CUDA_ERROR_NOT_SUPPORTED instead of a success without an
// effect.
package libcudanull
