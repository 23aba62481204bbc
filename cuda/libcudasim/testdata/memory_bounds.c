// sim only: a driver checks only the bounds of its own blocks, which are larger than allocations
// No call accesses a byte past an allocation, or memory that was freed. Sizes and counts
// that exceed all memory are refused before anything is read.
#include "check.h"

#define N 3000

// huge passes negative sizes, converted to unsigned, and sizes that are far too large.
static void huge(CUdeviceptr a, char *host) {
	static const size_t sizes[] = {(size_t)-1, (size_t)-4096, (size_t)1 << 63, (size_t)1 << 62, (size_t)1 << 42};
	CUgraph graph;
	CUgraphNode node;
	CUlinkState link;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuLinkCreate(0, NULL, NULL, &link));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = sizes[i];
		EXPECT(cuMemcpyHtoD(a, host, n), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuMemcpyHtoDAsync(a, host, n, 0), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuMemcpyDtoHAsync(host, a, n, 0), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuMemcpyAsync(a, (CUdeviceptr)(uintptr_t)host, n, 0), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuMemcpyDtoD(a, a, n), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuMemsetD32(a, 0, n), CUDA_ERROR_INVALID_VALUE);
	}
	EXPECT(cuMemHostRegister(host, (size_t)-1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, host, (size_t)-1, "huge", 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddEmptyNode(&node, graph, &node, (size_t)-1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuLinkDestroy(link));
	CHECK(cuGraphDestroy(graph));
}

int main(void) {
	CUdeviceptr a, b, base;
	size_t size;
	static unsigned char host[N + 1];
	open_device();
	CHECK(cuMemAlloc(&a, N));
	CHECK(cuMemAlloc(&b, N));
	EXPECT(cuMemcpyHtoD(a, host, N + 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyHtoD(a + 1, host, N), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoHAsync(host, b + N - 3, 4, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy((CUdeviceptr)(uintptr_t)host, a + N, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy(a - 1, b, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy((CUdeviceptr)(uintptr_t)host, b + (1 << 24), 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyAsync(b + (1 << 24), a, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8(a, 0, N + 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD2D8(a, 1000, 0, 1000, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemsetD2D8(a, 1000, 0, 1000, 3));
	CHECK(cuMemGetAddressRange(&base, &size, a + N - 1));
	EQ(base, a);
	EQ(size, N);
	EXPECT(cuMemGetAddressRange(&base, &size, a + N), CUDA_ERROR_NOT_FOUND);
	huge(a, (char *)host);
	CHECK(cuMemFree(a));
	EXPECT(cuMemcpyDtoH(host, a, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy((CUdeviceptr)(uintptr_t)host, a, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(b + 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFree(b));
	return 0;
}
