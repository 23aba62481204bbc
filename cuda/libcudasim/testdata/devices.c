// The attributes of a device. Attributes that are equal on all GPUs are compared with their values.
#include "check.h"

static CUdevice device;

static int attribute(CUdevice_attribute a) {
	int value = -1;
	CHECK(cuDeviceGetAttribute(&value, a, device));
	return value;
}

// The figures of the CUDA C++ Programming Guide, technical specifications per compute
// capability.
static void specifications(void) {
	int capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
		attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	static const struct {
		int capability, threads, blocks, shared, optin, reserved;
	} known[] = {
		{60, 2048, 32, 64, 48, 0},
		{70, 2048, 32, 96, 96, 0},
		{75, 1024, 16, 64, 64, 0},
		{80, 2048, 32, 164, 163, 1},
		{86, 1536, 16, 100, 99, 1},
		{89, 1536, 24, 100, 99, 1},
		{90, 2048, 32, 228, 227, 1},
	};
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 2147483647);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 48 << 10);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY), 64 << 10);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK), 64 << 10);
	EQ(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].capability != capability)
			continue;
		EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), known[i].threads);
		EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), known[i].blocks);
		EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), known[i].shared << 10);
		EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), known[i].optin << 10);
		EQ(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK), known[i].reserved << 10);
	}
}

static void every_attribute(void) {
	int value;
	for (int a = 1; a < CU_DEVICE_ATTRIBUTE_MAX; a++)
		CHECK(cuDeviceGetAttribute(&value, a, device));
	EXPECT(cuDeviceGetAttribute(&value, 0, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetAttribute(&value, 100000, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99), CUDA_ERROR_INVALID_DEVICE);
}

static void names(void) {
	char name[256], cut[4] = "xxx", bus[32];
	CUuuid uuid;
	CUdevice found = -1;
	CHECK(cuDeviceGetName(name, sizeof name, device));
	TRUE(strlen(name) > 4);
	CHECK(cuDeviceGetName(cut, sizeof cut, device));
	TRUE(strlen(cut) == 3 && strncmp(cut, name, 3) == 0);
	EXPECT(cuDeviceGetName(NULL, 8, device), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuDeviceGetUuid(&uuid, device));
	CHECK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
	CHECK(cuDeviceGetByPCIBusId(&found, bus));
	EQ(found, device);
	CHECK(cuDeviceGetByPCIBusId(&found, strchr(bus, ':') + 1)); // without the domain
	EQ(found, device);
	EXPECT(cuDeviceGetByPCIBusId(&found, "not a bus"), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDeviceGetByPCIBusId(&found, "0000:ff:1f.0"), CUDA_ERROR_INVALID_DEVICE);
}

static void deprecated(void) {
	CUdevprop p;
	int major, minor;
	CHECK(cuDeviceGetProperties(&p, device));
	EQ(p.SIMDWidth, 32);
	EQ(p.maxThreadsDim[2], 64);
	EQ(p.maxGridSize[0], 2147483647);
	EQ(p.maxGridSize[2], 65535);
	CHECK(cuDeviceComputeCapability(&major, &minor, device));
	EQ(major, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
}

int main(void) {
	int count, version, can;
	size_t bytes, width;
	EXPECT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuDriverGetVersion(&version));
	TRUE(version >= 11000);
	EXPECT(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&count));
	TRUE(count >= 1);
	EXPECT(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDeviceTotalMem(&bytes, device));
	TRUE(bytes > 1 << 30);
	CHECK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, device));
	TRUE(width >= 1 << 27);
	CHECK(cuDeviceCanAccessPeer(&can, device, device));
	EQ(can, 0);
	specifications();
	every_attribute();
	names();
	deprecated();
	return 0;
}
