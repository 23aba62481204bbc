// Bytes go to the device and come back.
#include "check.h"

int main(void) {
	CUdevice device;
	CUcontext context;
	CUdeviceptr memory;
	unsigned char there[1000], back[1000] = {0};
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	for (int i = 0; i < 1000; i++)
		there[i] = i * 7;
	CHECK(cuMemAlloc(&memory, sizeof there));
	CHECK(cuMemcpyHtoD(memory, there, sizeof there));
	CHECK(cuMemcpyDtoH(back, memory, sizeof back));
	TRUE(memcmp(there, back, sizeof back) == 0);
	EXPECT(cuMemcpyDtoH(back, memory + 1, sizeof back), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFree(memory));
	EXPECT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxDestroy(context));
	EXPECT(cuMemAlloc(&memory, 1), CUDA_ERROR_INVALID_CONTEXT);
	return 0;
}
