// Functions by their names.
#include "check.h"

#undef cuGetProcAddress

// The unsuffixed form, as programs of CUDA 11 call it.
CUresult cuGetProcAddress(const char *symbol, void **function, int release, cuuint64_t flags);

static void *find(const char *name, int release, cuuint64_t flags, CUdriverProcAddressQueryResult want) {
	void *function = (void *)1;
	CUdriverProcAddressQueryResult why = 99;
	CHECK(cuGetProcAddress_v2(name, &function, release, flags, &why));
	EQ(why, want);
	TRUE((function != NULL) == (want == CU_GET_PROC_ADDRESS_SUCCESS));
	return function;
}

int main(void) {
	void *function, *legacy, *own;
	int version, count;
	CHECK(cuDriverGetVersion(&version));
	find("cuMemAlloc", 3020, 0, CU_GET_PROC_ADDRESS_SUCCESS);
	find("cuGetErrorString", 6000, 0, CU_GET_PROC_ADDRESS_SUCCESS);
	find("cuLibraryLoadData", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS);
	find("cuLibraryLoadData", 11080, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	find("cuNothing", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	find("", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	find("cuMemAlloc_v2", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	CHECK(cuGetProcAddress_v2("cuInit", &function, 12000, 0, NULL));

	legacy = find("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_SUCCESS);
	own = find("cuLaunchKernel", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS);
	TRUE(legacy != own);
	TRUE(legacy == find("cuLaunchKernel", 4000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS));
	own = find("cuMemAlloc", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS);
	TRUE(own == find("cuMemAlloc", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS));
	TRUE(find("cuGetProcAddress", 11080, 0, CU_GET_PROC_ADDRESS_SUCCESS) !=
		find("cuGetProcAddress", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS));
	TRUE(find("cuGraphInstantiate", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS) ==
		find("cuGraphInstantiateWithFlags", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS));

	EXPECT(cuGetProcAddress_v2(NULL, &function, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetProcAddress_v2("cuInit", NULL, 12000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	TRUE(find("cuMemAlloc", version + 1000, 0, CU_GET_PROC_ADDRESS_SUCCESS) == find("cuMemAlloc", version, 0, CU_GET_PROC_ADDRESS_SUCCESS));
	find("cuInit", 2147483647, 0, CU_GET_PROC_ADDRESS_SUCCESS);
	find("cuInit", 0, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	find("cuInit", -1, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	// The first forms of functions, and functions that are not served.
	static const struct { const char *name; int release; } older[] = {{"cuLinkCreate", 5050}, {"cuDevicePrimaryCtxRelease", 7000},
		{"cuStreamBeginCapture", 10000}, {"cuProfilerStart", 4000}, {"cuGetExportTable", 3000}, {"cuMemCreate", 10020},
		{"cuModuleGetTexRef", 2000}, {"cuMemAlloc", 2000}, {"cuCtxCreate", 2000}, {"cuGraphicsMapResources", 3000}};
	for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
		find(older[i].name, older[i].release, 0, CU_GET_PROC_ADDRESS_SUCCESS);
		find(older[i].name, version + 1000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, CU_GET_PROC_ADDRESS_SUCCESS);
		CHECK(cuGetProcAddress(older[i].name, &function, older[i].release, 0));
		TRUE(function != NULL);
	}
	function = find("cuGetExportTable", version, 0, CU_GET_PROC_ADDRESS_SUCCESS);
	EXPECT(((CUresult (*)(const void **, const CUuuid *))function)(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);

	EXPECT(cuGetProcAddress_v2("cuInit", &function, 12000, 3, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetProcAddress("cuNothing", &function, 11080, 0), CUDA_ERROR_NOT_FOUND);
	CHECK(cuGetProcAddress("cuInit", &function, 11080, 0));
	CHECK(((CUresult (*)(unsigned))function)(0));
	CHECK(cuGetProcAddress("cuDeviceGetCount", &function, 11080, 0));
	CHECK(((CUresult (*)(int *))function)(&count));
	TRUE(count > 0);

	const char *text;
	CHECK(cuGetErrorName(CUDA_ERROR_MISALIGNED_ADDRESS, &text));
	TRUE(strcmp(text, "CUDA_ERROR_MISALIGNED_ADDRESS") == 0);
	CHECK(cuGetErrorName(CUDA_SUCCESS, &text));
	TRUE(strcmp(text, "CUDA_SUCCESS") == 0);
	CHECK(cuGetErrorString(CUDA_ERROR_MISALIGNED_ADDRESS, &text));
	TRUE(strlen(text) > 0);
	EXPECT(cuGetErrorString(12345, &text), CUDA_ERROR_INVALID_VALUE);
	TRUE(text == NULL);
	EXPECT(cuGetErrorName(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
