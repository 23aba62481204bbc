// The heap of kernels is as large as the context's limit says.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
	".visible .entry take(.param .u64 out, .param .u64 n)\n"
	"{\n"
	"	.reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [out]; ld.param.u64 %d2, [n];\n"
	"	{ .param .b64 a; .param .b64 b; st.param.b64 [a], %d2; call (b), malloc, (a); ld.param.b64 %d3, [b]; }\n"
	"	st.global.u64 [%d1], %d3; ret;\n"
	"}\n";

// took says whether a kernel got that many bytes.
static int took(size_t limit, uint64_t bytes) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction take;
	CUdeviceptr out;
	uint64_t got = 0;
	void *params[] = {&out, &bytes};
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	if (limit > 0)
		CHECK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, limit));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&take, module, "take"));
	CHECK(cuMemAlloc(&out, 8));
	CHECK(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(cuMemcpyDtoH(&got, out, 8));
	CHECK(cuCtxDestroy(context));
	return got != 0;
}

int main(void) {
	CHECK(cuInit(0));
	TRUE(took(0, 1 << 20));
	TRUE(!took(0, 32 << 20));
	TRUE(took(64 << 20, 32 << 20));
	return 0;
}
