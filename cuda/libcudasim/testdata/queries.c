// Calls that programs make to learn about contexts, modules, kernels and memory, and settings without effect.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry first() {\n	ret;\n}\n"
	".visible .entry second() {\n	ret;\n}\n";

static CUdevice device;

static void contexts(void) {
	CUcontext current;
	unsigned flags;
	unsigned long long id, other;
	int supported = 1;
	CUexecAffinityParam affinity;
	CHECK(cuCtxGetCurrent(&current));
	CHECK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
	CHECK(cuCtxGetFlags(&flags));
	EQ(flags, CU_CTX_SCHED_YIELD);
	EXPECT(cuCtxSetFlags(1u << 30), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxGetId(NULL, &id));
	CHECK(cuCtxGetId(current, &other));
	EQ(id, other);
	CHECK(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
	EQ(supported, 0);
	EXPECT(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

static void modules(void) {
	CUmoduleLoadingMode mode;
	CUmodule module;
	CUfunction list[3] = {NULL, NULL, NULL}, f;
	CUfunctionLoadingState state;
	CHECK(cuModuleGetLoadingMode(&mode));
	EQ(mode, CU_MODULE_EAGER_LOADING);
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleEnumerateFunctions(list, 3, module));
	CHECK(cuModuleGetFunction(&f, module, "second"));
	TRUE(list[0] == f || list[1] == f);
	TRUE(list[2] == NULL);
	CHECK(cuFuncLoad(f));
	CHECK(cuFuncIsLoaded(&state, f));
	EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
	CHECK(cuModuleUnload(module));
}

static void libraries(void) {
	CUlibrary library;
	CUkernel kernel;
	CUdeviceptr p;
	size_t n;
	CHECK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cuLibraryGetKernel(&kernel, library, "first"));
	CHECK(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, device));
	EXPECT(cuKernelSetCacheConfig(kernel, (CUfunc_cache)99, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLibraryGetManaged(&p, &n, library, "none"), CUDA_ERROR_NOT_FOUND);
	CHECK(cuLibraryUnload(library));
}

static void pools(void) {
	CUmemoryPool pool;
	CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
	CUmemAccessDesc access = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAccess_flags flags;
	CHECK(cuDeviceGetDefaultMemPool(&pool, device));
	CHECK(cuMemPoolSetAccess(pool, &access, 1));
	CHECK(cuMemPoolGetAccess(&flags, pool, &here));
	EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	EXPECT(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_VALUE);
}

static void ranges(void) {
	CUdeviceptr p;
	int readMostly = -1, preferred = -1;
	void *data[] = {&readMostly, &preferred};
	size_t sizes[] = {sizeof readMostly, sizeof preferred};
	CUmem_range_attribute what[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
	CHECK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
	CHECK(cuMemRangeGetAttributes(data, sizes, what, 2, p, 4096));
	EQ(readMostly, 1);
	EQ(preferred, CU_DEVICE_INVALID);
	CHECK(cuMemFree(p));
}

static void arrays(void) {
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	CUDA_ARRAY_MEMORY_REQUIREMENTS need;
	CUarray a;
	char in[16] = "fifteen letters", out[16] = "";
	CHECK(cuArrayCreate(&a, &d));
	CHECK(cuArrayGetMemoryRequirements(&need, a, device));
	TRUE(need.size >= 16);
	CHECK(cuMemcpyHtoAAsync(a, 0, in, sizeof in, NULL));
	CHECK(cuMemcpyAtoHAsync(out, a, 0, sizeof out, NULL));
	CHECK(cuCtxSynchronize());
	EQ(memcmp(in, out, sizeof in), 0);
	CHECK(cuArrayDestroy(a));
}

static void textures(void) {
	CUtexref ref;
	CUfilter_mode mode;
	CHECK(cuTexRefCreate(&ref));
	CHECK(cuTexRefSetMipmapFilterMode(ref, CU_TR_FILTER_MODE_LINEAR));
	CHECK(cuTexRefGetMipmapFilterMode(&mode, ref));
	EQ(mode, CU_TR_FILTER_MODE_LINEAR);
	EXPECT(cuTexRefSetMipmappedArray(ref, NULL, 0), CUDA_ERROR_NOT_SUPPORTED);
	CHECK(cuTexRefDestroy(ref));
}

static void memsets(void) {
	CUdeviceptr p;
	size_t pitch;
	unsigned out[2][4];
	unsigned short halves[2][8];
	CHECK(cuMemAllocPitch(&p, &pitch, sizeof out[0], 2, 4));
	CHECK(cuMemsetD2D32(p, pitch, 0x01020304, 4, 2));
	CHECK(cuMemcpyDtoH(out[1], p + pitch, sizeof out[1]));
	EQ(out[1][3], 0x01020304);
	CHECK(cuMemsetD2D16Async(p, pitch, 0x0506, 8, 2, NULL));
	CHECK(cuMemcpyDtoH(halves[1], p + pitch, sizeof halves[1]));
	EQ(halves[1][7], 0x0506);
	CHECK(cuStreamWriteValue64(NULL, p, 0x1122334455667788, 0));
	CHECK(cuMemcpyDtoH(out[0], p, sizeof out[0]));
	EQ(out[0][1], 0x11223344);
	CHECK(cuMemFree(p));
}

int main(void) {
	open_device();
	CHECK(cuDeviceGet(&device, 0));
	contexts();
	modules();
	libraries();
	pools();
	ranges();
	arrays();
	textures();
	memsets();
	return 0;
}
