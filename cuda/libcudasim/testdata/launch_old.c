// Launches by the functions from before CUDA 4.0, and the reference count of a context.
#include "check.h"

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry fill(.param .u64 p, .param .u32 i, .param .f32 f) {\n"
	".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<4>;\n"
	"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [i]; ld.param.f32 %f1, [f];\n"
	"mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r2, %r3, %r4, %r2;\n"
	"mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r4; mad.lo.u32 %r2, %r5, %r6, %r2;\n"
	"mul.wide.u32 %rd2, %r2, 4; add.s64 %rd1, %rd1, %rd2;\n"
	"add.u32 %r1, %r1, %r2; cvt.rn.f32.u32 %f2, %r1; add.f32 %f1, %f1, %f2; st.global.f32 [%rd1], %f1; ret; }\n"
	".visible .entry none() { ret; }\n";

static void fill(CUdeviceptr p, size_t n, float value) {
	float out[256];
	CHECK(cuMemcpyDtoH(out, p, sizeof out));
	for (size_t i = 0; i < 256; i++)
		TRUE(out[i] == (i < n ? value + i : 0));
	CHECK(cuMemsetD8(p, 0, sizeof out));
}

int main(void) {
	CUcontext c, other;
	CUmodule m;
	CUfunction f, none;
	CUdeviceptr p;
	CUstream s;
	CHECK(cuInit(0));
	CHECK(cuCtxCreate(&c, 0, 0));
	CHECK(cuModuleLoadData(&m, ptx));
	CHECK(cuModuleGetFunction(&f, m, "fill"));
	CHECK(cuModuleGetFunction(&none, m, "none"));
	CHECK(cuMemAlloc(&p, 1024));
	CHECK(cuMemsetD8(p, 0, 1024));
	EXPECT(cuLaunch(none), CUDA_ERROR_INVALID_VALUE); // no block shape was set
	CHECK(cuFuncSetBlockShape(none, 32, 1, 1));
	CHECK(cuLaunch(none));

	EXPECT(cuFuncSetBlockShape(f, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetBlockShape(f, -1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetBlockShape(f, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetBlockShape(f, 65536, 65536, 65536), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetSharedSize(f, 1 << 20), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuFuncSetBlockShape((CUfunction)0x10, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuFuncSetBlockShape(f, 16, 1, 1));
	CHECK(cuFuncSetSharedSize(f, 64));
	EXPECT(cuLaunch(f), CUDA_ERROR_INVALID_VALUE); // no parameters were set
	CHECK(cuParamSetv(f, 0, &p, sizeof p));
	CHECK(cuParamSeti(f, 8, 3));
	EXPECT(cuParamSetf(f, -4, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuParamSetf(f, 32763, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuParamSetv(f, 0, NULL, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuParamSetSize(f, 1u << 31), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuParamSetf(f, 12, 0.5f));
	CHECK(cuParamSetSize(f, 16));
	CHECK(cuLaunch(f));
	fill(p, 16, 3.5f);
	EXPECT(cuLaunchGrid(f, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchGrid(f, 1, -1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuLaunchGrid(f, 3, 2));
	fill(p, 96, 3.5f);
	CHECK(cuStreamCreate(&s, 0));
	CHECK(cuParamSeti(f, 8, 7)); // the other parameters stay
	CHECK(cuLaunchGridAsync(f, 2, 1, s));
	CHECK(cuStreamSynchronize(s));
	fill(p, 32, 7.5f);
	CHECK(cuParamSetSize(f, 12)); // cuts the last one off
	EXPECT(cuLaunch(f), CUDA_ERROR_INVALID_VALUE);

	EXPECT(cuCtxAttach(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuCtxAttach(&other, 1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxAttach(&other, 0));
	TRUE(other == c);
	CHECK(cuCtxDetach(c));
	CHECK(cuCtxSynchronize()); // the use of its creation is left
	CHECK(cuCtxCreate(&other, 0, 0));
	EXPECT(cuCtxDetach(c), CUDA_ERROR_INVALID_CONTEXT); // it is not current
	CHECK(cuCtxDetach(other));
	CHECK(cuCtxDetach(c));
	EXPECT(cuCtxDetach(c), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxAttach(&other, 0), CUDA_ERROR_INVALID_CONTEXT);
	open_device();
	CHECK(cuCtxGetCurrent(&c));
	EXPECT(cuCtxDetach(c), CUDA_ERROR_INVALID_CONTEXT); // a primary context is released
	return 0;
}
