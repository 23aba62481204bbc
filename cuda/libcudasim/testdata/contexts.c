// Contexts: a stack per thread, primary ones counted, and what is left when they end.
#include "check.h"

#include <pthread.h>

static CUdevice device;
static CUcontext shared;
static pthread_barrier_t step;

// Another thread has shared as its current context while it is destroyed.
static void *bystander(void *unused) {
	CUcontext current;
	(void)unused;
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == NULL);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuCtxSetCurrent(shared));
	CHECK(cuCtxSynchronize());
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step); // it is destroyed between
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	CHECK(cuCtxSetCurrent(NULL));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	return NULL;
}

static void stack_of_contexts(void) {
	CUcontext a, b, current;
	CUdevice of_current;
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == NULL);
	EXPECT(cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxGetDevice(&of_current), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuCtxCreate(&a, 0, device));
	CHECK(cuCtxCreate(&b, CU_CTX_SCHED_BLOCKING_SYNC, device));
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == b);
	CHECK(cuCtxPopCurrent(&current));
	TRUE(current == b);
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == a);
	CHECK(cuCtxPushCurrent(b));
	CHECK(cuCtxPushCurrent(a));
	CHECK(cuCtxSetCurrent(b)); // in the place of a
	CHECK(cuCtxPopCurrent(NULL));
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == b);
	CHECK(cuCtxDestroy(b)); // and pops it
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == a);
	CHECK(cuCtxGetDevice(&of_current));
	EQ(of_current, device);
	EXPECT(cuCtxCreate(NULL, 0, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxCreate(&b, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxCreate(&b, 0, 99), CUDA_ERROR_INVALID_DEVICE);
	CHECK(cuCtxDestroy(a));
	CHECK(cuCtxGetCurrent(&current));
	TRUE(current == NULL);
}

static void destroyed_elsewhere(void) {
	pthread_t thread;
	CUcontext current;
	CHECK(cuCtxCreate(&shared, 0, device));
	CHECK(cuCtxPopCurrent(&current));
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, bystander, NULL);
	pthread_barrier_wait(&step);
	CHECK(cuCtxDestroy(shared));
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
}

static void primary_context(void) {
	CUcontext a, b;
	CUdeviceptr memory;
	unsigned flags;
	int active;
	CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQ(active, 0);
	CHECK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD));
	CHECK(cuDevicePrimaryCtxRetain(&a, device));
	CHECK(cuDevicePrimaryCtxRetain(&b, device));
	TRUE(a == b);
	CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQ(active, 1);
	EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
	CHECK(cuCtxSetCurrent(a));
	CHECK(cuMemAlloc(&memory, 64));
	CHECK(cuDevicePrimaryCtxRelease(device));
	CHECK(cuMemFree(memory));
	CHECK(cuDevicePrimaryCtxRelease(device));
	CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQ(active, 0);
	EXPECT(cuMemAlloc(&memory, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	EXPECT(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuDevicePrimaryCtxSetFlags(device, 0));
	CHECK(cuCtxSetCurrent(NULL));
}

static void queries(void) {
	CUcontext a;
	size_t value;
	unsigned version;
	int least, greatest;
	CUfunc_cache cache;
	CUsharedconfig banks;
	CHECK(cuCtxCreate(&a, 0, device));
	CHECK(cuCtxGetApiVersion(a, &version));
	TRUE(version >= 3020);
	CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
	EQ(least, 0);
	TRUE(greatest < 0);
	CHECK(cuCtxGetStreamPriorityRange(NULL, NULL));
	CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	CHECK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	TRUE(value >= 4096);
	CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)-1));
	CHECK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	EQ(value, 512 << 10);
	EXPECT(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)-1), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)-1), CUDA_ERROR_OUT_OF_MEMORY);
	CHECK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
	EQ(value, 8 << 20);
	EXPECT(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
	CHECK(cuCtxGetCacheConfig(&cache));
	EQ(cache, CU_FUNC_CACHE_PREFER_L1);
	CHECK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
	CHECK(cuCtxGetSharedMemConfig(&banks));
	EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
	CHECK(cuCtxResetPersistingL2Cache());
	CHECK(cuCtxDestroy(a));
}

// Objects of one context are invalid in another, and are destroyed with their context.
static void ownership(void) {
	static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry idle() { ret; }\n";
	CUcontext a, b;
	CUmodule module;
	CUfunction idle;
	CHECK(cuCtxCreate(&a, 0, device));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&idle, module, "idle"));
	CHECK(cuLaunchKernel(idle, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	CHECK(cuCtxCreate(&b, 0, device));
	EXPECT(cuLaunchKernel(idle, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuCtxDestroy(a)); // with work under way
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxDestroy(b));
}

// A context with much work under way ends when the work has, in the time of the host: other contexts and later ones work.
static void ends_at_work(void) {
	CUcontext first, a;
	CUdeviceptr p, q;
	CHECK(cuCtxCreate(&first, 0, device));
	CHECK(cuMemAlloc(&q, 16));
	for (int i = 0; i < 2; i++) {
		CHECK(cuCtxCreate(&a, 0, device));
		CHECK(cuMemAlloc(&p, 1 << 30));
		CHECK(cuMemsetD8Async(p, 1, 1 << 30, NULL));
		CHECK(cuCtxDestroy(a));
		CHECK(cuMemsetD8Async(q, 1, 16, NULL));
	}
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxDestroy(first));
}

int main(void) {
	EXPECT(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	stack_of_contexts();
	destroyed_elsewhere();
	primary_context();
	queries();
	ownership();
	ends_at_work();
	return 0;
}
