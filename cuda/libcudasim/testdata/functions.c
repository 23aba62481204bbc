// Attributes of kernels, the attributes that can be set, and the checks of a launch.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".const .align 4 .b8 table[256];\n"
	".extern .shared .align 4 .b8 dynamic[];\n"
	".visible .entry fill(.param .u64 out, .param .u32 n)\n"
	"{\n"
	"	.shared .align 4 .b8 fixed[1024];\n"
	"	.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];\n"
	"	mov.u32 %r2, %tid.x; mov.u32 %r4, fixed;\n"
	"	st.shared.u32 [%r4], %r2; bar.sync 0; ld.shared.u32 %r5, [%r4];\n"
	"	mov.u32 %r3, dynamic; shl.b32 %r4, %r2, 2; add.u32 %r3, %r3, %r4;\n"
	"	st.shared.u32 [%r3], %r1; ld.shared.u32 %r5, [%r3];\n"
	"	mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;\n"
	"	ret;\n"
	"}\n"
	".visible .entry small() .maxntid 64, 1, 1 { ret; }\n";

static CUdevice device;
static CUmodule module;
static CUfunction fill, small;
static CUdeviceptr out;

static int attribute(CUfunction f, CUfunction_attribute a) {
	int value = -7;
	CHECK(cuFuncGetAttribute(&value, a, f));
	return value;
}

static CUresult launch(unsigned threads, unsigned shared) {
	uint32_t n = 5;
	void *params[] = {&out, &n};
	return cuLaunchKernel(fill, 1, 1, 1, threads, 1, 1, shared, NULL, params, NULL);
}

static void attributes(void) {
	int value, capability;
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 256);
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
	EQ(attribute(small, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_PTX_VERSION), 52);
	TRUE(attribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
	CHECK(cuDeviceGetAttribute(&capability, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_BINARY_VERSION) / 10, capability);
	EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, fill), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, fill), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
	CHECK(cuFuncSetCacheConfig(fill, CU_FUNC_CACHE_PREFER_SHARED));
	CHECK(cuFuncSetSharedMemConfig(fill, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
}

// More than 48 KiB of shared memory require cuFuncSetAttribute.
static void shared_memory(void) {
	int most;
	CHECK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
	EQ(attribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), (48 << 10) - 1024);
	CHECK(launch(256, (48 << 10) - 1024));
	EXPECT(launch(256, 48 << 10), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - 1023), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), CUDA_ERROR_INVALID_VALUE);
	if (most > 48 << 10) {
		CHECK(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - 1024));
		CHECK(launch(256, most - 1024));
	}
	CHECK(cuCtxSynchronize());
}

static void launches(void) {
	uint32_t back[1024] = {0}, n = 77;
	void *params[] = {&out, &n};
	CUlaunchAttribute attributes[3] = {{.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
		{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
		{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1}};
	CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1024, .blockDimY = 1,
		.blockDimZ = 1, .sharedMemBytes = 4096, .attrs = attributes, .numAttrs = 3};
	CHECK(cuLaunchKernelEx(&config, fill, params, NULL));
	CHECK(cuMemcpyDtoH(back, out, sizeof back));
	EQ(back[0], 77);
	EQ(back[1023], 77);
	n = 78;
	CHECK(cuLaunchCooperativeKernel(fill, 1, 1, 1, 32, 1, 1, 4096, NULL, params));
	CHECK(cuMemcpyDtoH(back, out, sizeof back));
	EQ(back[31], 78);
	EQ(back[32], 77);
	attributes[0].id = 9999;
	EXPECT(cuLaunchKernelEx(&config, fill, params, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernelEx(NULL, fill, params, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchCooperativeKernel(fill, 1 << 20, 1, 1, 1024, 1, 1, 4096, NULL, params), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	EXPECT(cuLaunchKernel(small, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(small, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(small, 1, 1, 1, 0, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
	CHECK(cuCtxSynchronize());
}

int main(void) {
	CUcontext context;
	CUmodule of_fill;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&fill, module, "fill"));
	CHECK(cuModuleGetFunction(&small, module, "small"));
	CHECK(cuFuncGetModule(&of_fill, fill));
	TRUE(of_fill == module);
	CHECK(cuMemAlloc(&out, 4096));
	attributes();
	shared_memory();
	launches();
	CHECK(cuModuleUnload(module));
	CHECK(cuCtxDestroy(context));
	return 0;
}
