// sim only: handles that are no longer valid may crash a real driver
// Libraries: code that belongs to no context and is loaded into each context that uses it (CUDA 12).
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .global .align 4 .u32 count = 5;\n"
	".visible .entry bump(.param .u8 unused, .param .u32 by)\n"
	"{ .reg .b32 %r<3>; ld.param.u32 %r1, [by]; ld.global.u32 %r2, [count]; add.u32 %r1, %r1, %r2; st.global.u32 [count], %r1; ret; }\n"
	".visible .entry idle() { ret; }\n";

static uint32_t count(CUlibrary library) {
	CUdeviceptr at;
	size_t bytes;
	uint32_t value;
	CHECK(cuLibraryGetGlobal(&at, &bytes, library, "count"));
	EQ(bytes, 4);
	CHECK(cuMemcpyDtoH(&value, at, 4));
	return value;
}

int main(void) {
	CUdevice device;
	CUcontext a, b;
	CUlibrary library, bad;
	CUkernel bump, all[3] = {0};
	CUfunction in_a, in_b;
	CUmodule module;
	unsigned n;
	uint8_t unused = 0;
	uint32_t by = 2;
	void *params[] = {&unused, &by};
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0)); // without a context
	EXPECT(cuLibraryLoadData(&bad, "not PTX", NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_INVALID_IMAGE);
	EXPECT(cuLibraryLoadFromFile(&bad, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_FILE_NOT_FOUND);
	CHECK(cuLibraryGetKernel(&bump, library, "bump"));
	EXPECT(cuLibraryGetKernel(&bump, library, "nothing"), CUDA_ERROR_NOT_FOUND);
	CHECK(cuLibraryGetKernelCount(&n, library));
	EQ(n, 2);
	CHECK(cuLibraryEnumerateKernels(all, 3, library));
	TRUE(all[0] == bump || all[1] == bump);
	TRUE(all[2] == NULL);
	EXPECT(cuKernelGetFunction(&in_a, bump), CUDA_ERROR_INVALID_CONTEXT);

	CHECK(cuCtxCreate(&a, 0, device));
	CHECK(cuKernelGetFunction(&in_a, bump));
	CHECK(cuLaunchKernel(in_a, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(cuLaunchKernel((CUfunction)bump, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	EQ(count(library), 9);
	CHECK(cuLibraryGetModule(&module, library));
	EXPECT(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);

	CHECK(cuCtxCreate(&b, 0, device));
	CHECK(cuLaunchKernel((CUfunction)bump, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	EQ(count(library), 7); // its own copy
	CHECK(cuKernelGetFunction(&in_b, bump));
	TRUE(in_b != in_a);

	size_t offset, size;
	int value;
	const char *name;
	CHECK(cuKernelGetName(&name, bump));
	TRUE(strcmp(name, "bump") == 0);
	CHECK(cuFuncGetName(&name, in_b));
	TRUE(strcmp(name, "bump") == 0);
	CHECK(cuKernelGetParamInfo(bump, 1, &offset, &size));
	EQ(offset, 4);
	EQ(size, 4);
	CHECK(cuFuncGetParamInfo(in_b, 0, &offset, NULL));
	EQ(offset, 0);
	EXPECT(cuFuncGetParamInfo(in_b, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, bump, device));
	CHECK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bump, device));
	EQ(value, 60000);
	CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, in_b));
	EQ(value, 60000);
	CHECK(cuLibraryGetModule(&module, library));
	CHECK(cuModuleGetFunctionCount(&n, module));
	EQ(n, 2);

	CHECK(cuCtxDestroy(b));
	CHECK(cuCtxSetCurrent(a));
	EQ(count(library), 9);
	CHECK(cuLibraryUnload(library));
	EXPECT(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuLaunchKernel(in_a, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuCtxDestroy(a));
	return 0;
}
