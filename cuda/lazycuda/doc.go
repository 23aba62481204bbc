// Package lazycuda says which CUDA driver the calls of this program go to.
//
// Beside it lies the C library that takes these calls, build/lib/libcuda.a, which
// `make lib` builds. It defines every function of cuda/include/cuda.h, so a program that
// is linked with it needs no CUDA driver to build, nor to start:
//
//	gorgonia.org/cu ─► trampoline ─► libcuda.so.1, the driver
//	                   (libcuda.a)   $REPRISE_LIBCUDA, a driver by its path
//	                                 REPRISE_LIBCUDA=sim: cuda/simabi in this program
//	                                 none of them: "no device"
//
// The provider is chosen at the first call. A function that the provider lacks,
// because it is newer, answers CUDA_ERROR_NOT_SUPPORTED, but for kernel nodes of
// graphs, which go to the functions that drivers before CUDA 12 have. Without a provider cuInit
// succeeds and there are 0 devices; calls that know what results are named work,
// and all others answer CUDA_ERROR_NO_DEVICE. When the provider's cuInit fails it is
// the same, and the others answer what cuInit failed with: a program always gets to
// the point where it can say so.
//
// symbols.def lists the functions, and undeclared.def those of a driver that cuda.h does not declare; trampoline.S is the code that each of them is;
// provider.c chooses; absent.c is the driver that is not there.
package lazycuda

import "embed"

// Sources are what libcuda.a is built from, together with the headers of package include.
//
//go:embed *.c *.S *.h *.def
var Sources embed.FS
