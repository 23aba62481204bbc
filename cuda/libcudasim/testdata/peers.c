// env: REPRISE_SIM=h200,h200
// Memory of another GPU: copies can always access it, and kernels after cuCtxEnablePeerAccess.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry bump(.param .u64 p) {\n	.reg .b32 %r<3>;\n	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd0, [p];\n	mov.u32 %r0, %tid.x;\n	mul.wide.u32 %rd1, %r0, 4;\n	add.s64 %rd2, %rd0, %rd1;\n"
	"	ld.global.u32 %r1, [%rd2];\n	add.u32 %r1, %r1, 1;\n	st.global.u32 [%rd2], %r1;\n	ret;\n}\n";

#define N 64

int main(void) {
	CUdevice device;
	CUcontext mine, other;
	CUmodule module;
	CUfunction bump;
	CUdeviceptr a, b;
	int count, can = 0, ordinal;
	unsigned out[N];
	void *params[] = {&b};
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&count));
	if (count < 2)
		return 0;
	CHECK(cuDeviceCanAccessPeer(&can, 0, 1));
	if (!can)
		return 0;
	CHECK(cuDeviceCanAccessPeer(&can, 0, 0));
	EQ(can, 0);
	CHECK(cuDeviceGet(&device, 1));
	CHECK(cuCtxCreate(&other, 0, device));
	CHECK(cuMemAlloc(&b, 4 * N));
	CHECK(cuMemsetD32(b, 7, N));
	CHECK(cuCtxSynchronize());
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&mine, 0, device));
	CHECK(cuMemAlloc(&a, 4 * N));
	TRUE(a != b);
	CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, b));
	EQ(ordinal, 1);
	CHECK(cuMemcpyPeer(a, mine, b, other, 4 * N));
	CHECK(cuMemcpyDtoH(out, a, 4 * N));
	EQ(out[N - 1], 7);
	EXPECT(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	EXPECT(cuCtxEnablePeerAccess(mine, 0), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuCtxEnablePeerAccess(other, 0));
	EXPECT(cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&bump, module, "bump"));
	for (int i = 0; i < 5; i++)
		CHECK(cuLaunchKernel(bump, 1, 1, 1, N, 1, 1, 0, 0, params, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(other));
	CHECK(cuMemcpyDtoH(out, b, 4 * N));
	for (int i = 0; i < N; i++)
		EQ(out[i], 12);
	CHECK(cuCtxSetCurrent(mine));
	CHECK(cuCtxDisablePeerAccess(other));
	CHECK(cuMemcpyDtoD(a, b, 4 * N)); // copies need no permission
	CHECK(cuMemcpyDtoH(out, a, 4 * N));
	EQ(out[0], 12);
	CHECK(cuCtxDestroy(mine));
	CHECK(cuCtxDestroy(other));
	return 0;
}
