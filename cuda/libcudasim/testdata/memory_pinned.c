// Host memory that the device can access: pinned, registered and managed, in
// copies and in kernels.
#include "check.h"

#define N 1000

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry twice(.param .u64 dst, .param .u64 src, .param .u32 n) {\n"
	"	.reg .pred %p;\n	.reg .b32 %r<8>;\n	.reg .b64 %rd<8>;\n"
	"	ld.param.u64 %rd0, [dst];\n	ld.param.u64 %rd1, [src];\n	ld.param.u32 %r0, [n];\n"
	"	mov.u32 %r1, %ctaid.x;\n	mov.u32 %r2, %ntid.x;\n	mov.u32 %r3, %tid.x;\n"
	"	mad.lo.s32 %r4, %r1, %r2, %r3;\n	setp.ge.u32 %p, %r4, %r0;\n	@%p ret;\n"
	"	mul.wide.u32 %rd2, %r4, 4;\n	add.s64 %rd3, %rd0, %rd2;\n	add.s64 %rd4, %rd1, %rd2;\n"
	"	ld.global.u32 %r5, [%rd4];\n	add.u32 %r6, %r5, %r5;\n	st.global.u32 [%rd3], %r6;\n	ret;\n}\n";

static CUfunction twice;

static CUresult launch(CUdeviceptr dst, CUdeviceptr src, unsigned n) {
	void *params[] = {&dst, &src, &n};
	CUresult r = cuLaunchKernel(twice, (n + 127) / 128, 1, 1, 128, 1, 1, 0, 0, params, NULL);
	return r ? r : cuCtxSynchronize();
}

static void fill(unsigned *p, unsigned seed) {
	for (unsigned i = 0; i < N; i++)
		p[i] = i + seed;
}

static void doubled(const unsigned *p, unsigned seed) {
	for (unsigned i = 0; i < N; i++)
		EQ(p[i], 2 * (i + seed));
}

static void pinned(void) {
	unsigned *in, *out;
	CUdeviceptr a, b;
	unsigned flags = 0;
	CHECK(cuMemHostAlloc((void **)&in, 4 * N, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostAlloc((void **)&out, 4 * N, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
	CHECK(cuMemHostGetFlags(&flags, out));
	EQ(flags & 3, 3);
	CHECK(cuMemHostGetDevicePointer(&a, in, 0));
	CHECK(cuMemHostGetDevicePointer(&b, out, 0));
	for (unsigned round = 0; round < 6; round++) { // the host changes what kernels saw before
		fill(in, round / 2);
		CHECK(launch(b, a, N));
		doubled(out, round / 2);
	}
	EXPECT(cuMemHostGetDevicePointer(&a, in, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemHostGetDevicePointer(&a, &flags, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemHostAlloc((void **)&in, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemHostAlloc(NULL, 4, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeHost(&flags), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeHost((char *)out + 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFreeHost(in));
	CHECK(cuMemFreeHost(out));
	EXPECT(cuMemFreeHost(out), CUDA_ERROR_INVALID_VALUE);
}

static void registered(void) {
	size_t page = 4096;
	unsigned *p = aligned_alloc(page, 4 * page);
	CUdeviceptr a;
	fill(p, 5);
	CHECK(cuMemHostRegister(p, page, CU_MEMHOSTREGISTER_DEVICEMAP));
	EXPECT(cuMemHostRegister(p, page, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	EXPECT(cuMemHostRegister(NULL, page, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemHostRegister(p, 0, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemHostGetDevicePointer(&a, p, 0));
	CHECK(launch(a, a, N));
	doubled(p, 5);
	CHECK(cuMemHostUnregister(p));
	EXPECT(cuMemHostUnregister(p), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	CHECK(cuMemHostRegister((char *)p + page, 2 * page, 0));
	CHECK(cuMemHostUnregister((char *)p + page));
	free(p);
}

static void managed(void) {
	CUdevice device;
	CUdeviceptr a, b;
	int value;
	CHECK(cuCtxGetDevice(&device));
	CHECK(cuMemAllocManaged(&a, 4 * N, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuMemAllocManaged(&b, 4 * N, CU_MEM_ATTACH_GLOBAL));
	fill((unsigned *)a, 9);
	CHECK(launch(b, a, N));
	doubled((unsigned *)b, 9);
	CHECK(cuMemAdvise(a, 4 * N, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
	CHECK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, 4 * N));
	EQ(value, 1);
	CHECK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, b, 4 * N));
	EQ(value, 0);
	CHECK(cuMemAdvise(a, 4 * N, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
	CHECK(cuMemPrefetchAsync(a, 4 * N, device, 0));
	CHECK(cuMemPrefetchAsync(b, 4 * N, device, 0));
	CHECK(launch(b, a, N));
	CHECK(cuMemPrefetchAsync(b, 4 * N, CU_DEVICE_CPU, 0));
	CHECK(cuCtxSynchronize());
	doubled((unsigned *)b, 9);
	CHECK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a, 4 * N));
	EQ(value, device);
	CHECK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, b, 4 * N));
	EQ(value, -1);
	EXPECT(cuMemPrefetchAsync(a, 0, device, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemPrefetchAsync(a, 4 * N, 99, 0), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuMemAllocManaged(&a, 4, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocManaged(&a, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFree(a));
	CHECK(cuMemFree(b));
}

int main(void) {
	CUmodule module;
	open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&twice, module, "twice"));
	pinned();
	registered();
	managed();
	return 0;
}
