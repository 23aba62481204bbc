// Links a kernel that calls twice() with the library archive and the object that are its arguments.
#include "../check.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

static const char caller[] = HEAD
	".extern .func (.param .b32 r) twice(.param .b32 x);\n"
	".visible .entry run(.param .u64 p, .param .u32 x)\n{\n"
	".reg .b32 %r<5>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [x];\n"
	"{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
	"st.global.u32 [%rd1], %r2; ret;\n}\n";

static unsigned linked(CUjitInputType kind, const char *file) {
	CUlinkState link;
	CUmodule module;
	CUfunction run;
	CUdeviceptr p;
	void *image;
	unsigned x = 21, y = 0;
	CHECK(cuLinkCreate(0, NULL, NULL, &link));
	CHECK(cuLinkAddFile(link, kind, file, 0, NULL, NULL));
	CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
	CHECK(cuLinkComplete(link, &image, NULL));
	CHECK(cuModuleLoadData(&module, image));
	CHECK(cuLinkDestroy(link));
	CHECK(cuModuleGetFunction(&run, module, "run"));
	EXPECT(cuModuleGetFunction(&run, module, "unused"), kind == CU_JIT_INPUT_LIBRARY ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS);
	CHECK(cuModuleGetFunction(&run, module, "run"));
	CHECK(cuMemAlloc(&p, 4));
	void *params[] = {&p, &x};
	CHECK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(cuMemcpyDtoH(&y, p, 4));
	return y;
}

int main(int argc, char **argv) {
	CUlinkState link;
	TRUE(argc == 3);
	open_device();
	EQ(linked(CU_JIT_INPUT_LIBRARY, argv[1]), 42);
	EXPECT(cuLinkCreate(0, NULL, NULL, &link), CUDA_SUCCESS);
	EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, argv[2], 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
	EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_OBJECT, argv[1], 0, NULL, NULL), CUDA_ERROR_INVALID_IMAGE);
	EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/absent.a", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND);
	CHECK(cuLinkAddFile(link, CU_JIT_INPUT_OBJECT, argv[2], 0, NULL, NULL));
	CHECK(cuLinkDestroy(link));
	return 0;
}
