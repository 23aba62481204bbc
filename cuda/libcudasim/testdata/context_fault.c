// A kernel that fails poisons its context, no other, and a new life of a primary context
// is healthy.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry store(.param .u64 to)\n"
	"{ .reg .b64 %d; ld.param.u64 %d, [to]; st.global.u64 [%d], 1; ret; }\n";

static void store(CUmodule module, CUdeviceptr to) {
	CUfunction function;
	void *params[] = {&to};
	CHECK(cuModuleGetFunction(&function, module, "store"));
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

// Every call returns the fault once it has been detected.
static void poisoned(CUmodule module, CUresult fault) {
	CUfunction function;
	CUdeviceptr memory;
	CUmodule other;
	EXPECT(cuCtxSynchronize(), fault);
	EXPECT(cuCtxSynchronize(), fault);
	EXPECT(cuMemAlloc(&memory, 64), fault);
	EXPECT(cuModuleGetFunction(&function, module, "store"), fault);
	EXPECT(cuModuleLoadData(&other, ptx), fault);
}

int main(void) {
	CUdevice device;
	CUcontext bad, good;
	CUmodule module;
	CUdeviceptr memory;
	uint64_t one = 0;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&bad, device));
	CHECK(cuCtxSetCurrent(bad));
	CHECK(cuModuleLoadData(&module, ptx));
	store(module, 64);
	poisoned(module, CUDA_ERROR_ILLEGAL_ADDRESS);
	CHECK(cuCtxSetCurrent(NULL));
	CHECK(cuDevicePrimaryCtxReset(device));

	CHECK(cuDevicePrimaryCtxRetain(&good, device));
	CHECK(cuCtxSetCurrent(good));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuMemAlloc(&memory, 8));
	store(module, memory);
	CHECK(cuMemcpyDtoH(&one, memory, 8));
	EQ(one, 1);
	store(module, memory + 4);
	poisoned(module, CUDA_ERROR_MISALIGNED_ADDRESS);
	CHECK(cuDevicePrimaryCtxReset(device));
	CHECK(cuDevicePrimaryCtxRelease(device));
	CHECK(cuDevicePrimaryCtxRelease(device));
	return 0;
}
