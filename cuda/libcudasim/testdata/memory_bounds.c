// sim only: a driver knows the bounds of its own blocks, which are larger than what was asked for
// Nothing reaches one byte past an allocation, or into one that was freed.
#include "check.h"

#define N 3000

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
	EXPECT(cuMemsetD8(a, 0, N + 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD2D8(a, 1000, 0, 1000, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemsetD2D8(a, 1000, 0, 1000, 3));
	CHECK(cuMemGetAddressRange(&base, &size, a + N - 1));
	EQ(base, a);
	EQ(size, N);
	EXPECT(cuMemGetAddressRange(&base, &size, a + N), CUDA_ERROR_NOT_FOUND);
	CHECK(cuMemFree(a));
	EXPECT(cuMemcpyDtoH(host, a, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy((CUdeviceptr)(uintptr_t)host, a, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(b + 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFree(b));
	return 0;
}
