// sim only: a GPU may go on reading memory that was freed
// A kernel that reads what was freed before it in its stream is at fault, and so is
// every later call.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry touch(.param .u64 p) {\n	.reg .b32 %r0;\n	.reg .b64 %rd0;\n"
	"	ld.param.u64 %rd0, [p];\n	ld.global.u32 %r0, [%rd0];\n	add.u32 %r0, %r0, 1;\n	st.global.u32 [%rd0], %r0;\n	ret;\n}\n";

int main(void) {
	CUmodule module;
	CUfunction touch;
	CUdeviceptr p;
	CUstream stream;
	size_t n;
	unsigned value;
	void *params[] = {&p};
	open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&touch, module, "touch"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAllocAsync(&p, 4, stream));
	CHECK(cuMemsetD32Async(p, 41, 1, stream));
	CHECK(cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	CHECK(cuMemcpyDtoHAsync(&value, p, 4, stream));
	EQ(value, 42);
	CHECK(cuMemFreeAsync(p, stream));
	CHECK(cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemGetInfo(&n, &n), CUDA_ERROR_ILLEGAL_ADDRESS);
	EXPECT(cuMemsetD8(p, 0, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
	return 0;
}
