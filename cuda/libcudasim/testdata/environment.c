// Environment variables that a program sets before cuInit take effect: the GPU, and sampling of launches,
// in which a large copy is timed and not made.
#include "check.h"

int main(void) {
	TRUE(setenv("REPRISE_SIM", "p100", 1) == 0 && setenv("REPRISE_SIM_SAMPLE", "2", 1) == 0);
	CHECK(cuInit(0));
	CUdevice device;
	CUcontext context;
	char name[64];
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDeviceGetName(name, sizeof name, device));
	TRUE(strcmp(name, "Tesla P100-PCIE-12GB") == 0);
	CHECK(cuCtxCreate(&context, 0, device));
	CUdeviceptr p;
	static unsigned char ones[1 << 16], got[1 << 16];
	memset(ones, 1, sizeof ones);
	CHECK(cuMemAlloc(&p, sizeof ones));
	CHECK(cuMemcpyHtoDAsync(p, ones, sizeof ones, NULL));
	CHECK(cuMemcpyDtoH(got, p, sizeof got));
	TRUE(got[0] == 0);
	CHECK(cuMemcpyHtoD(p, ones, sizeof ones));
	CHECK(cuMemcpyDtoH(got, p, sizeof got));
	TRUE(memcmp(got, ones, sizeof got) == 0);
	return 0;
}
