// also with the per-thread default stream
// Bytes arrive by every kind of one-dimensional copy, and sizes and addresses that
// are wrong are refused.
#include "check.h"

#define N 3000

static unsigned char in[N], out[N];

static void fill_in(int seed) {
	for (int i = 0; i < N; i++)
		in[i] = (unsigned char)(i * 7 + seed);
	memset(out, 0, N);
}

static void same(void) { TRUE(memcmp(in, out, N) == 0); }

static void plain(CUdeviceptr a, CUdeviceptr b, unsigned char *pinned) {
	fill_in(1);
	CHECK(cuMemcpyHtoD(a, in, N));
	CHECK(cuMemcpyDtoD(b, a, N));
	CHECK(cuMemcpyDtoH(out, b, N));
	same();
	fill_in(2);
	CHECK(cuMemcpy(a, (CUdeviceptr)(uintptr_t)in, N));
	CHECK(cuMemcpy(b, a, N));
	CHECK(cuMemcpy((CUdeviceptr)(uintptr_t)pinned, b, N));
	CHECK(cuMemcpy((CUdeviceptr)(uintptr_t)out, (CUdeviceptr)(uintptr_t)pinned, N));
	same();
}

static void async(CUdeviceptr a, CUdeviceptr b, unsigned char *pinned, CUstream stream) {
	fill_in(3);
	CHECK(cuMemcpyHtoDAsync(a, in, N, stream));
	memset(in, 0, N); // pageable memory has been taken
	CHECK(cuMemcpyDtoDAsync(b, a, N, stream));
	CHECK(cuMemcpyDtoHAsync(pinned, b, N, stream));
	CHECK(cuStreamSynchronize(stream));
	fill_in(3);
	TRUE(memcmp(in, pinned, N) == 0);
	CHECK(cuMemcpyDtoHAsync(out, b, N, stream));
	CHECK(cuStreamSynchronize(stream));
	same();
	fill_in(4);
	memcpy(pinned, in, N);
	CHECK(cuMemcpyAsync(a, (CUdeviceptr)(uintptr_t)pinned, N, stream));
	CHECK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)out, a, N, stream));
	CHECK(cuStreamSynchronize(stream));
	same();
}

static void refused(CUdeviceptr a, CUdeviceptr b) {
	EXPECT(cuMemcpyHtoD(a, in, (size_t)-1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoD(a, b, (size_t)1 << 63), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyHtoD(a, NULL, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoH(NULL, a, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoD(0, a, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemcpyHtoD(a, in, 0));
	CHECK(cuMemcpyDtoDAsync(a, b, 0, 0));
}

static void memsets(CUdeviceptr a) {
	unsigned short *h = (unsigned short *)out;
	unsigned *w = (unsigned *)out;
	CHECK(cuMemsetD8(a, 0x5a, N));
	CHECK(cuMemsetD16(a + 2, 0x1234, 5));
	CHECK(cuMemsetD32Async(a + 16, 0xdeadbeef, 3, 0));
	CHECK(cuMemcpyDtoH(out, a, N));
	EQ(out[0], 0x5a);
	EQ(out[N - 1], 0x5a);
	for (int i = 1; i < 6; i++)
		EQ(h[i], 0x1234);
	EQ(h[6], 0x5a5a);
	for (int i = 4; i < 7; i++)
		EQ(w[i], 0xdeadbeef);
	EQ(w[7], 0x5a5a5a5a);
	CHECK(cuMemsetD8(a, 0, N));
	CHECK(cuMemsetD2D8(a, 10, 1, 3, 4));
	CHECK(cuMemsetD2D16(a + 100, 20, 0x0202, 5, 2));
	CHECK(cuMemsetD2D32Async(a + 200, 16, 0x03030303, 2, 3, 0));
	CHECK(cuMemcpyDtoH(out, a, N));
	for (int i = 0; i < 300; i++) {
		int want = 0;
		if (i < 40 && i % 10 < 3)
			want = 1;
		if (i >= 100 && i < 140 && (i - 100) % 20 < 10)
			want = 2;
		if (i >= 200 && i < 248 && (i - 200) % 16 < 8)
			want = 3;
		EQ(out[i], want);
	}
	EXPECT(cuMemsetD16(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32(a, 0, (size_t)1 << 62), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD2D8(a, (size_t)1 << 63, 0, 1, 3), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemsetD8(a, 0, 0));
}

int main(void) {
	CUdeviceptr a, b;
	void *pinned;
	CUstream stream;
	open_device();
	CHECK(cuMemAlloc(&a, N));
	CHECK(cuMemAlloc(&b, N));
	CHECK(cuMemAllocHost(&pinned, N));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	plain(a, b, pinned);
	async(a, b, pinned, stream);
	async(a, b, pinned, 0);
	refused(a, b);
	memsets(a);
	CHECK(cuMemFree(a));
	CHECK(cuMemFree(b));
	CHECK(cuMemFreeHost(pinned));
	return 0;
}
