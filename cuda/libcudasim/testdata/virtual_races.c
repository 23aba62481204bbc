// env: REPRISE_SIM_RACE=1
// Races for mapped memory are found by the memory, whatever addresses it has.
#include "virtual.h"

int main(void) {
	CUstream a, b;
	CUdeviceptr at;
	unsigned n = 256;
	open_device();
	CUfunction count = kernel("count");
	CUmemGenericAllocationHandle h = create(0, CHUNK);
	CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAddressReserve(&at, 4 * CHUNK, 0, 0, 0));
	CHECK(cuMemMap(at, CHUNK, 0, h, 0));
	CHECK(cuMemMap(at + 2 * CHUNK, CHUNK, 0, h, 0));
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	CHECK(allow(at + 2 * CHUNK, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	map_new(at + CHUNK, CHUNK, 0);

	CHECK(cuMemsetD32Async(at, 1, n, a)); // different memory
	CHECK(cuMemsetD32Async(at + CHUNK, 2, n, b));
	CHECK(cuMemsetD32Async(at + 2 * CHUNK + 4 * n, 2, n, b));
	CHECK(cuCtxSynchronize());

	CHECK(cuMemsetD32Async(at, 1, n, a)); // the same by two addresses
	CHECK(cuMemsetD32Async(at + 2 * CHUNK, 2, n, b));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
	CHECK(cuCtxSynchronize());

	CUdeviceptr p = at + 2 * CHUNK - 4 * n / 2; // across a boundary, by a kernel
	void *params[] = {&p, &n};
	CHECK(cuLaunchKernel(count, 1, 1, 1, n, 1, 1, 0, a, params, NULL));
	CHECK(cuMemsetD32Async(at, 2, 1, b));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
	CHECK(cuLaunchKernel(count, 1, 1, 1, n, 1, 1, 0, a, params, NULL));
	CHECK(cuMemsetD32Async(at + 2 * n, 2, n, b));
	CHECK(cuCtxSynchronize());
	return 0;
}
