// Kernel parameters are passed as an array of pointers or as a buffer. Errors of a launch are
// reported by the call.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".global .align 4 .u32 bias = 3;\n"
	".visible .entry scale(.param .u8 pad, .param .u64 data, .param .u32 n, .param .f64 by)\n"
	"{\n"
	"	.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f64 %f<3>;\n"
	"	ld.param.u64 %d1, [data]; ld.param.u32 %r1, [n]; ld.param.f64 %f1, [by];\n"
	"	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
	"	mad.lo.u32 %r2, %r2, %r3, %r4;\n"
	"	setp.ge.u32 %p, %r2, %r1; @%p bra done;\n"
	"	mul.wide.u32 %d2, %r2, 8; add.u64 %d1, %d1, %d2;\n"
	"	ld.global.f64 %f2, [%d1]; mul.f64 %f2, %f2, %f1; st.global.f64 [%d1], %f2;\n"
	"done: ret;\n"
	"}\n"
	".visible .entry idle() { ret; }\n";

enum { N = 1000 };

// The parameter block as the kernel's signature lays it out.
struct block {
	uint8_t pad;
	CUdeviceptr data;
	uint32_t n;
	double by;
};

int main(void) {
	CUdevice device;
	CUcontext context;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));

	CUmodule module;
	CUfunction scale, idle, again;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&scale, module, "scale"));
	CHECK(cuModuleGetFunction(&again, module, "scale"));
	TRUE(again == scale);
	CHECK(cuModuleGetFunction(&idle, module, "idle"));
	EXPECT(cuModuleGetFunction(&again, module, "bias"), CUDA_ERROR_NOT_FOUND);

	CUdeviceptr bias;
	size_t bytes;
	uint32_t three;
	CHECK(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
	EQ(bytes, 4);
	CHECK(cuMemcpyDtoH(&three, bias, 4));
	EQ(three, 3);
	EXPECT(cuModuleGetGlobal(&bias, &bytes, module, "scale"), CUDA_ERROR_NOT_FOUND);

	double data[N];
	struct block p = {.n = N, .by = 1.5};
	for (int i = 0; i < N; i++)
		data[i] = i;
	CHECK(cuMemAlloc(&p.data, sizeof data));
	CHECK(cuMemcpyHtoD(p.data, data, sizeof data));

	void *params[] = {&p.pad, &p.data, &p.n, &p.by};
	size_t size = sizeof p;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CHECK(cuLaunchKernel(scale, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
	CHECK(cuLaunchKernel(scale, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
	CHECK(cuLaunchKernel(idle, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyDtoH(data, p.data, sizeof data));
	for (int i = 0; i < N; i++)
		TRUE(data[i] == i * 2.25);

	EXPECT(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(scale, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(scale, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 65, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);

	CHECK(cuModuleUnload(module));
	CHECK(cuMemFree(p.data));
	CHECK(cuCtxDestroy(context));
	return 0;
}
