//go:build ignore

// The driver that does nothing. See doc.go.

#include <cuda.h>
#include <reprise.h>

#include <stdlib.h>
#include <string.h>

// Counters without locks or atomics, which would take longer than the rest of a call. Concurrent calls of several
// threads may be lost.
static uint64_t calls;
static long handles;

// Each addition depends through memory on the previous one. In a loop of calls, this dependency would dominate the
// measured time and vary with the alignment of the loop. Measurements therefore switch counting off.
static int counting = 1;

void repriseCount(int on) { counting = on; }

static void count(void) {
	if (__builtin_expect(counting, 0))
		calls++;
}

uint64_t repriseCalls(void) { return calls; }

// nullHandles returns the number of live streams, events, graphs, instances, modules, contexts and allocations.
long nullHandles(void) { return handles; }

static CUresult success(void) {
	count();
	return CUDA_SUCCESS;
}

static CUresult destroyed(void) {
	count();
	handles--;
	return CUDA_SUCCESS;
}

// next_handle returns a new handle. Handles begin at 0x1010, because 1 and 2 are the default streams.
static uintptr_t next_handle(void) {
	static uintptr_t last = 0x1000;
	count();
	return last += 0x10;
}

static CUresult created(void *out) {
	uintptr_t h = next_handle();
	memcpy(out, &h, sizeof h);
	handles++;
	return CUDA_SUCCESS;
}

// Functions without results, functions that destroy a handle, and functions that create one.
#define SUCCEEDS(function, ...) CUresult function(__VA_ARGS__) { return success(); }
#define DESTROYS(function, ...) CUresult function(__VA_ARGS__) { return destroyed(); }
#define CREATES(function, first, ...) CUresult function(first out, ##__VA_ARGS__) { return created(out); }

SUCCEEDS(cuInit, unsigned flags)
SUCCEEDS(cuCtxPushCurrent, CUcontext c)
SUCCEEDS(cuCtxSetCurrent, CUcontext c)
SUCCEEDS(cuCtxSynchronize, void)
SUCCEEDS(cuCtxEnablePeerAccess, CUcontext c, unsigned flags)

SUCCEEDS(cuFuncSetAttribute, CUfunction f, CUfunction_attribute a, int value)
SUCCEEDS(cuLaunchKernel, CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
	CUstream s, void **params, void **extra)
SUCCEEDS(cuLaunchKernelEx, const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
SUCCEEDS(cuLaunchHostFunc, CUstream s, CUhostFn f, void *data)

SUCCEEDS(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s)
SUCCEEDS(cuMemcpyHtoD, CUdeviceptr to, const void *from, size_t n)
SUCCEEDS(cuMemcpyDtoH, void *to, CUdeviceptr from, size_t n)
SUCCEEDS(cuMemsetD8Async, CUdeviceptr p, unsigned char v, size_t n, CUstream s)
SUCCEEDS(cuMemsetD16Async, CUdeviceptr p, unsigned short v, size_t n, CUstream s)
SUCCEEDS(cuMemsetD32Async, CUdeviceptr p, unsigned v, size_t n, CUstream s)
SUCCEEDS(cuMemPrefetchAsync, CUdeviceptr p, size_t n, CUdevice to, CUstream s)
SUCCEEDS(cuStreamAttachMemAsync, CUstream s, CUdeviceptr p, size_t n, unsigned flags)

SUCCEEDS(cuStreamSynchronize, CUstream s)
SUCCEEDS(cuStreamWaitEvent, CUstream s, CUevent e, unsigned flags)
SUCCEEDS(cuEventRecord, CUevent e, CUstream s)
SUCCEEDS(cuEventSynchronize, CUevent e)

SUCCEEDS(cuGraphKernelNodeSetAttribute, CUgraphNode n, CUkernelNodeAttrID a, const CUkernelNodeAttrValue *v)
SUCCEEDS(cuGraphExecKernelNodeSetParams, CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
SUCCEEDS(cuGraphExecMemcpyNodeSetParams, CUgraphExec x, CUgraphNode n, const CUDA_MEMCPY3D *p, CUcontext c)
SUCCEEDS(cuGraphExecMemsetNodeSetParams, CUgraphExec x, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c)
SUCCEEDS(cuGraphExecHostNodeSetParams, CUgraphExec x, CUgraphNode n, const CUDA_HOST_NODE_PARAMS *p)
SUCCEEDS(cuGraphNodeSetEnabled, CUgraphExec x, CUgraphNode n, unsigned on)
SUCCEEDS(cuGraphUpload, CUgraphExec x, CUstream s)
SUCCEEDS(cuGraphLaunch, CUgraphExec x, CUstream s)

CREATES(cuDevicePrimaryCtxRetain, CUcontext *, CUdevice d)
CREATES(cuModuleLoadData, CUmodule *, const void *image)
CREATES(cuModuleLoadDataEx, CUmodule *, const void *image, unsigned n, CUjit_option *options, void **values)
CREATES(cuStreamCreate, CUstream *, unsigned flags)
CREATES(cuStreamCreateWithPriority, CUstream *, unsigned flags, int priority)
CREATES(cuEventCreate, CUevent *, unsigned flags)
CREATES(cuGraphCreate, CUgraph *, unsigned flags)
CREATES(cuGraphInstantiateWithFlags, CUgraphExec *, CUgraph g, unsigned long long flags)

DESTROYS(cuDevicePrimaryCtxRelease, CUdevice d)
DESTROYS(cuModuleUnload, CUmodule m)
DESTROYS(cuStreamDestroy, CUstream s)
DESTROYS(cuEventDestroy, CUevent e)
DESTROYS(cuGraphDestroy, CUgraph g)
DESTROYS(cuGraphExecDestroy, CUgraphExec x)

// Nodes are destroyed with their graph, and functions with their module, so neither is counted.
#define NAMES(function, first, ...) CUresult function(first out, __VA_ARGS__) { return *out = (void *)next_handle(), CUDA_SUCCESS; }

NAMES(cuModuleGetFunction, CUfunction *, CUmodule m, const char *name)
NAMES(cuGraphAddKernelNode, CUgraphNode *, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_KERNEL_NODE_PARAMS *p)
NAMES(cuGraphAddMemcpyNode, CUgraphNode *, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_MEMCPY3D *p, CUcontext c)
NAMES(cuGraphAddMemsetNode, CUgraphNode *, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c)
NAMES(cuGraphAddHostNode, CUgraphNode *, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_HOST_NODE_PARAMS *p)
NAMES(cuGraphAddEmptyNode, CUgraphNode *, CUgraph g, const CUgraphNode *after, size_t n)

#define ANSWERS(function, what, ...) CUresult function(__VA_ARGS__) { what; return success(); }

static CUcontext current = (CUcontext)8;

ANSWERS(cuDriverGetVersion, *version = 12040, int *version)
ANSWERS(cuDeviceGetCount, *n = 16, int *n)
ANSWERS(cuDeviceGet, *d = ordinal, CUdevice *d, int ordinal)
ANSWERS(cuDeviceCanAccessPeer, *can = d != peer, int *can, CUdevice d, CUdevice peer)
ANSWERS(cuDeviceGetName, strncpy(name, "null", (size_t)n), char *name, int n, CUdevice d)
ANSWERS(cuDeviceTotalMem, *n = (size_t)1 << 47, size_t *n, CUdevice d)
ANSWERS(cuCtxPopCurrent, *c = current, CUcontext *c)
ANSWERS(cuCtxGetCurrent, *c = current, CUcontext *c)
ANSWERS(cuCtxGetDevice, *d = 0, CUdevice *d)
ANSWERS(cuCtxGetStreamPriorityRange, (*least = 0, *greatest = -5), int *least, int *greatest)
ANSWERS(cuFuncGetAttribute, *value = 0, int *value, CUfunction_attribute a, CUfunction f)
ANSWERS(cuEventElapsedTime, *ms = 0, float *ms, CUevent start, CUevent end)
ANSWERS(cuGetErrorName, *text = r == CUDA_SUCCESS ? "CUDA_SUCCESS" : "a result that the null driver never gives", CUresult r, const char **text)
ANSWERS(cuGetErrorString, *text = r == CUDA_SUCCESS ? "no error" : "a result that the null driver never gives", CUresult r, const char **text)

// The capabilities of the device are at least those of any GPU.
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d) {
	switch (a) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*value = 227 << 10;
		break;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
		*value = 1000 * 1000;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*value = 9;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*value = 0;
		break;
	default:
		*value = 1;
	}
	return success();
}

// Device memory consists of addresses without memory. Pinned and managed memory is real, because callers write to it.
#define DEVICE_MEMORY ((CUdeviceptr)1 << 56)

CUresult cuMemAlloc(CUdeviceptr *p, size_t n) {
	static CUdeviceptr end = DEVICE_MEMORY;
	*p = end;
	end += (n + 255) / 256 * 256;
	handles++;
	return success();
}

static CUresult alloc_host(void **p, size_t n) {
	*p = aligned_alloc(256, (n + 255) / 256 * 256);
	if (*p == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	handles++;
	return success();
}

CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) { return alloc_host(p, n); }

CUresult cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned flags) {
	void *at = NULL;
	CUresult r = alloc_host(&at, n);
	*p = (CUdeviceptr)at;
	return r;
}

CUresult cuMemFreeHost(void *p) {
	free(p);
	return destroyed();
}

CUresult cuMemFree(CUdeviceptr p) {
	if (p < DEVICE_MEMORY)
		free((void *)p);
	return destroyed();
}
