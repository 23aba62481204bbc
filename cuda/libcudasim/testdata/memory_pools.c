// Memory allocated and freed in streams, and the pools it is from.
#include "check.h"

#define MIB ((size_t)1 << 20)

static cuuint64_t get(CUmemoryPool pool, CUmemPool_attribute what) {
	cuuint64_t value;
	CHECK(cuMemPoolGetAttribute(pool, what, &value));
	return value;
}

static void in_order(CUstream stream) {
	CUdeviceptr a, b;
	unsigned out[256];
	CHECK(cuMemAllocAsync(&a, MIB, stream));
	CHECK(cuMemAllocAsync(&b, MIB, stream));
	TRUE(a != b);
	CHECK(cuMemsetD32Async(a, 0x1234, MIB / 4, stream));
	CHECK(cuMemcpyDtoDAsync(b, a, MIB, stream));
	CHECK(cuMemFreeAsync(a, stream));
	CHECK(cuMemcpyDtoHAsync(out, b + MIB - sizeof out, sizeof out, stream));
	CHECK(cuStreamSynchronize(stream));
	for (int i = 0; i < 256; i++)
		EQ(out[i], 0x1234);
	CHECK(cuMemFree(b)); // may be mixed
	CHECK(cuMemAlloc(&a, MIB));
	CHECK(cuMemFreeAsync(a, stream));
	CHECK(cuStreamSynchronize(stream));
}

static void accounts(CUstream stream, CUdevice device) {
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUmemoryPool pool, first, now;
	CUdeviceptr p;
	cuuint64_t threshold = 1024 * MIB, zero = 0;
	size_t before, after, total;
	int flag = -1;
	CHECK(cuMemPoolCreate(&pool, &props));
	EQ(get(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	EQ(get(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0);
	CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
	EQ(flag, 1);
	CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemGetInfo(&before, &total));
	CHECK(cuMemAllocFromPoolAsync(&p, 256 * MIB, pool, stream));
	EQ(get(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 256 * MIB);
	TRUE(get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 256 * MIB);
	CHECK(cuMemFreeAsync(p, stream));
	EXPECT(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuStreamSynchronize(stream));
	EQ(get(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	EQ(get(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 256 * MIB);
	TRUE(get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 256 * MIB); // kept below the threshold
	CHECK(cuMemGetInfo(&after, &total));
	TRUE(before - after >= 256 * MIB);
	CHECK(cuMemPoolTrimTo(pool, 0));
	EQ(get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
	CHECK(cuMemGetInfo(&after, &total));
	EQ(after, before);
	CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
	EQ(get(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
	EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuDeviceGetDefaultMemPool(&first, device));
	CHECK(cuDeviceGetMemPool(&now, device));
	TRUE(first == now);
	CHECK(cuDeviceSetMemPool(device, pool));
	CHECK(cuDeviceGetMemPool(&now, device));
	TRUE(now == pool);
	CHECK(cuMemAllocAsync(&p, MIB, stream));
	CHECK(cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
	TRUE(now == pool);
	CHECK(cuMemFreeAsync(p, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemPoolDestroy(pool));
	CHECK(cuDeviceGetMemPool(&now, device));
	TRUE(now == first);
}

// Allocate and free all memory repeatedly without a wait: freed memory is reused.
static void over_and_over(CUstream stream) {
	CUdeviceptr p;
	size_t available, total;
	CHECK(cuCtxSynchronize());
	CHECK(cuMemGetInfo(&available, &total));
	for (int i = 0; i < 10; i++) {
		CHECK(cuMemAllocAsync(&p, available / 4 * 3, stream));
		CHECK(cuMemsetD8Async(p, 1, 100, stream));
		CHECK(cuMemFreeAsync(p, stream));
	}
	CHECK(cuStreamSynchronize(stream));
	EXPECT(cuMemAllocAsync(&p, 2 * total, stream), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemAlloc(&p, 2 * total), CUDA_ERROR_OUT_OF_MEMORY);
	CHECK(cuMemAllocAsync(&p, MIB, stream));
	CHECK(cuMemFreeAsync(p, stream));
	CHECK(cuStreamSynchronize(stream));
}

int main(void) {
	CUdevice device;
	CUstream stream;
	CUdeviceptr p;
	open_device();
	CHECK(cuCtxGetDevice(&device));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	in_order(stream);
	in_order(0);
	accounts(stream, device);
	over_and_over(stream);
	EXPECT(cuMemAllocAsync(NULL, 4, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocAsync(&p, 0, stream), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
