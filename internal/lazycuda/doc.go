// Package lazycuda selects the CUDA driver that this program calls.
//
// Its C library build/lib/libcuda.a, which `make lib` builds, receives all driver calls. It defines every function of
// cuda/include/cuda.h, so a program that is linked with it needs no CUDA driver to build or to start:
//
//	gorgonia.org/cu ─► trampoline ─► libcuda.so.1, the driver
//	                   (libcuda.a)   $REPRISE_LIBCUDA, a driver by its path
//	                                 REPRISE_LIBCUDA=sim: cuda/simabi in this program
//	                                 none of them: "no device"
//
// The provider is selected at the first call. A function that an older provider lacks returns
// CUDA_ERROR_NOT_SUPPORTED. Kernel nodes of graphs are an exception: they use the functions of drivers before CUDA 12
// instead.
//
// Without a provider cuInit succeeds and there are 0 devices. Calls that return names of results work, and all others
// return CUDA_ERROR_NO_DEVICE. If cuInit of the provider fails, the behaviour is the same, but the others return the
// result of cuInit. A program can therefore always report the problem.
//
// symbols.def lists the functions, and undeclared.def those of a driver that cuda.h does not declare. trampoline.S is
// the code of each of them, provider.c selects the provider, and absent.c replaces a missing driver.
package lazycuda

import "embed"

// Sources holds the source files of libcuda.a, which needs the headers of package include as well.
//
//go:embed *.c *.S *.h *.def
var Sources embed.FS
