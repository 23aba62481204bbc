// sim only: it requires one A100 and one V100
// env: REPRISE_SIM=a100, v100
#include "check.h"

static void is(int ordinal, const char *name, int major, int bus, size_t memory) {
	CUdevice device, found;
	char text[64];
	size_t bytes;
	int value;
	CHECK(cuDeviceGet(&device, ordinal));
	CHECK(cuDeviceGetName(text, sizeof text, device));
	TRUE(strcmp(text, name) == 0);
	CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	EQ(value, major);
	CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device));
	EQ(value, bus);
	CHECK(cuDeviceTotalMem(&bytes, device));
	EQ(bytes, memory);
	snprintf(text, sizeof text, "%x:0.0", bus);
	CHECK(cuDeviceGetByPCIBusId(&found, text));
	EQ(found, device);
}

int main(void) {
	CUcontext a, v;
	CUuuid first, second;
	CUdevice current;
	int count, value;
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&count));
	EQ(count, 2);
	is(0, "NVIDIA A100-SXM4-80GB", 8, 1, 80000000000);
	is(1, "Tesla V100-SXM2-16GB", 7, 2, 16000000000);
	CHECK(cuDeviceGetUuid(&first, 0));
	CHECK(cuDeviceGetUuid(&second, 1));
	TRUE(memcmp(&first, &second, sizeof first) != 0);
	CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
	EXPECT(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1), CUDA_ERROR_INVALID_DEVICE);

	CHECK(cuDevicePrimaryCtxRetain(&a, 0));
	CHECK(cuDevicePrimaryCtxRetain(&v, 1));
	TRUE(a != v);
	CHECK(cuCtxSetCurrent(v));
	CHECK(cuCtxGetDevice(&current));
	EQ(current, 1);
	EXPECT(cuCtxEnablePeerAccess(v, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxEnablePeerAccess(a, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxDisablePeerAccess(a), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	return 0;
}
