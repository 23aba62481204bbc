// env: REPRISE_SIM=h200,h200
// Calls on objects that belong to a context need no current one. They work in a thread without a context,
// with another context current, and with a destroyed one.
#include "check.h"

static const char *ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry idle() { ret; }\n";

typedef struct {
	CUdeviceptr memory, managed, pitched;
	void *pinned, *registered;
	CUmodule module;
	CUstream stream;
	CUevent event;
	CUarray array;
	CUlinkState link;
	CUtexObject texture;
	CUsurfObject surface;
	CUgraph graph;
	CUgraphExec exec;
} things;

static char pages[8192];

static void make(things *t) {
	size_t pitch;
	CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	CUDA_RESOURCE_DESC over = {.resType = CU_RESOURCE_TYPE_ARRAY};
	CUDA_TEXTURE_DESC sampling = {.flags = 0};
	CHECK(cuMemAlloc(&t->memory, 64));
	CHECK(cuMemAllocManaged(&t->managed, 64, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuMemAllocPitch(&t->pitched, &pitch, 64, 4, 4));
	CHECK(cuMemHostAlloc(&t->pinned, 64, 0));
	t->registered = pages;
	CHECK(cuMemHostRegister(pages, sizeof pages, 0));
	CHECK(cuModuleLoadData(&t->module, ptx));
	CHECK(cuStreamCreate(&t->stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&t->event, CU_EVENT_DEFAULT));
	CHECK(cuArray3DCreate(&t->array, &shape));
	CHECK(cuLinkCreate(0, NULL, NULL, &t->link));
	over.res.array.hArray = t->array;
	CHECK(cuTexObjectCreate(&t->texture, &over, &sampling, NULL));
	CHECK(cuSurfObjectCreate(&t->surface, &over));
	CHECK(cuGraphCreate(&t->graph, 0));
	CHECK(cuGraphInstantiate(&t->exec, t->graph, 0));
}

// Objects that a handle or an address names.
static void use(things *t) {
	CUdeviceptr base;
	CUDA_ARRAY3D_DESCRIPTOR shape;
	CUcontext of;
	size_t size;
	unsigned flags;
	CHECK(cuMemsetD8Async(t->memory, 3, 64, t->stream));
	CHECK(cuEventRecord(t->event, t->stream));
	CHECK(cuStreamWaitEvent(t->stream, t->event, 0));
	CHECK(cuEventSynchronize(t->event));
	CHECK(cuEventQuery(t->event));
	CHECK(cuStreamSynchronize(t->stream));
	CHECK(cuStreamQuery(t->stream));
	CHECK(cuStreamGetFlags(t->stream, &flags));
	CHECK(cuStreamGetCtx(t->stream, &of));
	CHECK(cuMemGetAddressRange(&base, &size, t->memory + 5));
	TRUE(base == t->memory && size == 64);
	CHECK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, t->memory));
	CHECK(cuMemHostGetDevicePointer(&base, t->pinned, 0));
	CHECK(cuMemHostGetFlags(&flags, t->pinned));
	CHECK(cuArray3DGetDescriptor(&shape, t->array));
	CHECK(cuGraphLaunch(t->exec, t->stream));
	CHECK(cuStreamSynchronize(t->stream));
}

static void destroy(things *t) {
	CHECK(cuGraphExecDestroy(t->exec));
	CHECK(cuGraphDestroy(t->graph));
	CHECK(cuSurfObjectDestroy(t->surface));
	CHECK(cuTexObjectDestroy(t->texture));
	CHECK(cuLinkDestroy(t->link));
	CHECK(cuArrayDestroy(t->array));
	CHECK(cuEventDestroy(t->event));
	CHECK(cuStreamDestroy(t->stream));
	CHECK(cuModuleUnload(t->module));
	CHECK(cuMemHostUnregister(t->registered));
	CHECK(cuMemFreeHost(t->pinned));
	CHECK(cuMemFree(t->pitched));
	CHECK(cuMemFree(t->managed));
	CHECK(cuMemFree(t->memory));
	CHECK(cuMemFree(0));
}

// A second time there is nothing left.
static void gone(things *t, CUresult value, CUresult handle, CUresult registered) {
	EXPECT(cuMemFree(t->memory), value);
	EXPECT(cuMemFree(t->managed), value);
	EXPECT(cuMemFreeHost(t->pinned), value);
	EXPECT(cuMemHostUnregister(t->registered), registered);
	EXPECT(cuModuleUnload(t->module), handle);
	EXPECT(cuStreamDestroy(t->stream), handle);
	EXPECT(cuStreamSynchronize(t->stream), handle);
	EXPECT(cuEventDestroy(t->event), handle);
	EXPECT(cuArrayDestroy(t->array), handle);
}

int main(void) {
	CUcontext first, second, doomed, popped;
	CUstream own;
	CUdeviceptr memory;
	size_t free_before, free_after, total;
	things t;
	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&first, 0));
	CHECK(cuCtxSetCurrent(first));
	CHECK(cuMemGetInfo(&free_before, &total));

	make(&t);
	CHECK(cuCtxPopCurrent(&popped));
	use(&t);
	destroy(&t);
	gone(&t, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);

	// The default streams, and what makes something, need one.
	EXPECT(cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuStreamCreate(&own, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuMemcpy(t.memory, t.memory, 4), CUDA_ERROR_INVALID_CONTEXT);

	// A context of the other GPU is current.
	CHECK(cuCtxPushCurrent(first));
	make(&t);
	CHECK(cuCtxCreate(&second, 0, 1));
	use(&t);
	destroy(&t);
	CHECK(cuCtxSetCurrent(first));
	CHECK(cuMemGetInfo(&free_after, &total));
	EQ(free_after, free_before);

	// The current one was destroyed by another thread, here by name.
	make(&t);
	CHECK(cuCtxCreate(&doomed, 0, 1));
	CHECK(cuCtxPushCurrent(first));
	CHECK(cuCtxPushCurrent(doomed));
	CHECK(cuCtxPushCurrent(doomed));
	CHECK(cuCtxDestroy(doomed)); // one of the two is popped
	EXPECT(cuMemAlloc(&memory, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	destroy(&t);
	gone(&t, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
	return 0;
}
