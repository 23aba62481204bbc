// Common code of the programs about virtual memory management.
#include "check.h"

#define CHUNK ((size_t)2 << 20)

static const char virtual_ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	// count(p, n): p[i] += i for n words
	".visible .entry count(.param .u64 p, .param .u32 n) {\n	.reg .pred %p;\n	.reg .b32 %r<6>;\n	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd0, [p];\n	ld.param.u32 %r5, [n];\n	mov.u32 %r0, %tid.x;\n	mov.u32 %r1, %ctaid.x;\n	mov.u32 %r2, %ntid.x;\n"
	"	mad.lo.u32 %r0, %r1, %r2, %r0;\n	setp.ge.u32 %p, %r0, %r5;\n	@%p ret;\n	mul.wide.u32 %rd1, %r0, 4;\n	add.s64 %rd1, %rd0, %rd1;\n"
	"	ld.global.u32 %r4, [%rd1];\n	add.u32 %r4, %r4, %r0;\n	st.global.u32 [%rd1], %r4;\n	ret;\n}\n"
	// through(a, b, n): a[i] = i + 1, and then a[n+i] = b[i], in each block the words of the block before
	".visible .entry through(.param .u64 a, .param .u64 b, .param .u32 n) {\n	.reg .b32 %r<8>;\n	.reg .b64 %rd<6>;\n	.reg .pred %p;\n"
	"	ld.param.u64 %rd0, [a];\n	ld.param.u64 %rd1, [b];\n	ld.param.u32 %r5, [n];\n	mov.u32 %r0, %tid.x;\n	mov.u32 %r1, %ctaid.x;\n"
	"	mov.u32 %r2, %ntid.x;\n	mad.lo.u32 %r3, %r1, %r2, %r0;\n	mul.wide.u32 %rd2, %r3, 4;\n	add.s64 %rd3, %rd0, %rd2;\n"
	"	add.u32 %r4, %r3, 1;\n	st.global.u32 [%rd3], %r4;\n	setp.lt.u32 %p, %r3, %r2;\n	@%p ret;\n"
	"	sub.u32 %r6, %r3, %r2;\n	mul.wide.u32 %rd4, %r6, 4;\n	add.s64 %rd4, %rd1, %rd4;\n	ld.volatile.global.u32 %r7, [%rd4];\n"
	"	mul.wide.u32 %rd5, %r5, 4;\n	add.s64 %rd5, %rd3, %rd5;\n	st.global.u32 [%rd5], %r7;\n	ret;\n}\n"
	// peek(p, out): *out = *p
	".visible .entry peek(.param .u64 p, .param .u64 out) {\n	.reg .b32 %r;\n	.reg .b64 %rd<2>;\n"
	"	ld.param.u64 %rd0, [p];\n	ld.param.u64 %rd1, [out];\n	ld.global.u32 %r, [%rd0];\n	st.global.u32 [%rd1], %r;\n	ret;\n}\n";

static inline CUfunction kernel(const char *name) {
	CUmodule module;
	CUfunction f;
	CHECK(cuModuleLoadData(&module, virtual_ptx));
	CHECK(cuModuleGetFunction(&f, module, name));
	return f;
}

static inline void count_words(CUfunction f, CUdeviceptr p, unsigned n) {
	void *params[] = {&p, &n};
	CHECK(cuLaunchKernel(f, (n + 255) / 256, 1, 1, 256, 1, 1, 0, 0, params, NULL));
}

static inline CUmemAllocationProp on_gpu(int ordinal) {
	CUmemAllocationProp prop = {0};
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = ordinal;
	return prop;
}

static inline CUmemGenericAllocationHandle create(int ordinal, size_t size) {
	CUmemGenericAllocationHandle h;
	CUmemAllocationProp prop = on_gpu(ordinal);
	CHECK(cuMemCreate(&h, size, &prop, 0));
	return h;
}

static inline CUresult allow(CUdeviceptr p, size_t size, int ordinal, CUmemAccess_flags flags) {
	CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, ordinal}, flags};
	return cuMemSetAccess(p, size, &desc, 1);
}

static inline unsigned long long access_of(CUdeviceptr p, int ordinal) {
	CUmemLocation at = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
	unsigned long long flags = 99;
	CHECK(cuMemGetAccess(&flags, &at, p));
	return flags;
}

// map_new maps new memory of a GPU and releases its handle. Only this GPU may access the memory.
static inline void map_new(CUdeviceptr p, size_t size, int ordinal) {
	CUmemGenericAllocationHandle h = create(ordinal, size);
	CHECK(cuMemMap(p, size, 0, h, 0));
	CHECK(cuMemRelease(h));
	CHECK(allow(p, size, ordinal, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

static inline size_t free_memory(void) {
	size_t f, total;
	CHECK(cuMemGetInfo(&f, &total));
	return f;
}

// faulty runs a launch in a context of its own, and expects it to fault.
static inline void faulty(const char *name, CUdeviceptr a, CUdeviceptr b, unsigned n, unsigned grid, unsigned block) {
	CUcontext own, before;
	void *params[] = {&a, &b, &n}, *two[] = {&a, &n};
	CHECK(cuCtxGetCurrent(&before));
	CHECK(cuCtxCreate(&own, 0, 0));
	CHECK(cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, 0, strcmp(name, "count") ? params : two, NULL));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	cuCtxDestroy(own);
	CHECK(cuCtxSetCurrent(before));
}
