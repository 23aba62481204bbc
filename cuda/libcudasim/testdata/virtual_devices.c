// env: REPRISE_SIM=h200,a100
// Mapped memory of several GPUs: access is each GPU's own, for all its contexts, and one range of
// addresses may be striped over GPUs.
#include "virtual.h"

static unsigned host[2 * CHUNK / 4];

int main(void) {
	CUcontext first, second, other;
	CUdeviceptr at;
	CUmemGenericAllocationHandle h;
	int ordinal = 7;
	unsigned flags;
	size_t before[2], n = 2 * CHUNK / 4;
	CHECK(cuInit(0));
	CHECK(cuCtxCreate(&second, 0, 1));
	before[1] = free_memory();
	CHECK(cuCtxCreate(&first, 0, 0));
	before[0] = free_memory();
	CUfunction count = kernel("count");
	CHECK(cuMemAddressReserve(&at, 2 * CHUNK, 0, 0, 0));
	map_new(at, CHUNK, 0);
	map_new(at + CHUNK, CHUNK, 1);
	EQ(before[0] - free_memory(), CHUNK);
	EQ(access_of(at, 1), CU_MEM_ACCESS_FLAGS_PROT_NONE);
	EQ(access_of(at + CHUNK, 0), CU_MEM_ACCESS_FLAGS_PROT_NONE);
	EXPECT(cuMemsetD32(at, 1, n), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at + CHUNK, 0, 256, 1, 256);
	CHECK(allow(at + CHUNK, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	CHECK(cuMemsetD32(at, 1, n));
	count_words(count, at, n);
	CHECK(cuMemcpyDtoH(host, at, 4 * n));
	for (size_t i = 0; i < n; i++)
		EQ(host[i], 1 + i);
	CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at + CHUNK));
	EQ(ordinal, 1);

	CHECK(cuCtxSetCurrent(second));
	EQ(before[1] - free_memory(), CHUNK);
	CHECK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
	EQ(flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
	EXPECT(cuMemcpyDtoH(host, at, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemcpyDtoH(host, at + CHUNK, 4));
	EQ(host[0], 1 + CHUNK / 4);
	CHECK(allow(at, 2 * CHUNK, 1, CU_MEM_ACCESS_FLAGS_PROT_READ));
	CHECK(cuMemcpyDtoH(host, at, 8));
	EQ(host[1], 2);
	EXPECT(cuMemsetD32(at + CHUNK, 1, 1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxSetCurrent(first));
	CHECK(cuMemsetD32(at + CHUNK, 8, 1)); // the other GPU's access is its own

	CHECK(cuCtxCreate(&other, 0, 0)); // another context of the GPU has its access
	CHECK(cuMemcpyDtoH(host, at + CHUNK, 4));
	EQ(host[0], 8);
	CHECK(cuCtxDestroy(other));
	CHECK(cuCtxDestroy(first));
	CHECK(cuCtxDestroy(second));
	CHECK(cuCtxCreate(&first, 0, 0)); // memory outlives contexts
	CHECK(cuMemcpyDtoH(host, at, 8));
	EQ(host[1], 2);
	CHECK(cuMemRetainAllocationHandle(&h, (void *)at));
	CHECK(cuMemUnmap(at, 2 * CHUNK));
	EQ(before[0] - free_memory(), CHUNK);
	CHECK(cuMemRelease(h));
	CHECK(cuMemAddressFree(at, 2 * CHUNK));
	EQ(free_memory(), before[0]);
	return 0;
}
