// A driver that fails: it hands every call on to the one that it is linked with, but those of the function that
// REPRISE_FAIL names, which answer CUDA_ERROR_UNKNOWN.
#define _GNU_SOURCE // RTLD_NEXT
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int fails(const char *function) {
	const char *which = getenv("REPRISE_FAIL");
	return which != NULL && strcmp(which, function) == 0;
}

#define TEXT(name) #name
#define SYMBOL(name) TEXT(name) // the name that cuda.h gives it

#define HAND_ON(function, parameters, arguments)                                                       \
	CUresult function parameters {                                                                      \
		CUresult(*next) parameters = (CUresult(*) parameters)dlsym(RTLD_NEXT, SYMBOL(function));          \
		return fails(#function) ? CUDA_ERROR_UNKNOWN : next arguments;                                   \
	}

HAND_ON(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
HAND_ON(cuMemAlloc, (CUdeviceptr * dptr, size_t bytes), (dptr, bytes))
HAND_ON(cuLaunchKernel,
		(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream,
		 void **params, void **extra),
		(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
HAND_ON(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream))
HAND_ON(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
HAND_ON(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags))
HAND_ON(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
HAND_ON(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph))
HAND_ON(cuGraphCreate, (CUgraph * graph, unsigned flags), (graph, flags))
HAND_ON(cuGraphUpload, (CUgraphExec exec, CUstream stream), (exec, stream))
HAND_ON(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream))
