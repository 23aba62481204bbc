// Several PTX modules are linked into one.
#include "check.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

// It calls a function of the other module. Both have a private function and a private variable of the same name.
static const char caller[] = HEAD
	".extern .func (.param .b32 r) twice(.param .b32 x);\n"
	".extern .global .align 4 .u32 total;\n"
	".global .align 4 .u32 own = 1000;\n"
	".func (.param .b32 r) helper() { .reg .b32 %r; ld.global.u32 %r, [own]; st.param.b32 [r], %r; ret; }\n"
	".visible .entry run(.param .u32 x)\n"
	"{\n"
	"	.reg .b32 %r<5>;\n"
	"	ld.param.u32 %r1, [x];\n"
	"	{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
	"	{ .param .b32 b; call (b), helper, (); ld.param.b32 %r3, [b]; }\n"
	"	add.u32 %r2, %r2, %r3; ld.global.u32 %r4, [total]; add.u32 %r4, %r4, %r2; st.global.u32 [total], %r4;\n"
	"	ret;\n"
	"}\n";
static const char callee[] = HEAD
	".visible .global .align 4 .u32 total = 7;\n"
	".global .align 4 .u32 own = 20;\n"
	".func (.param .b32 r) helper() { .reg .b32 %r; ld.global.u32 %r, [own]; st.param.b32 [r], %r; ret; }\n"
	".visible .func (.param .b32 r) twice(.param .b32 x)\n"
	"{\n"
	"	.reg .b32 %r<3>;\n"
	"	{ .param .b32 b; call (b), helper, (); ld.param.b32 %r2, [b]; }\n"
	"	ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;\n"
	"}\n";

static void whole(void) {
	CUlinkState link;
	CUmodule module;
	CUfunction run;
	CUdeviceptr total;
	void *image;
	size_t size;
	uint32_t x = 100, value;
	void *params[] = {&x};
	CHECK(cuLinkCreate(0, NULL, NULL, &link));
	CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
	CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
	CHECK(cuLinkComplete(link, &image, &size));
	TRUE(size > 0);
	CHECK(cuModuleLoadData(&module, image));
	CHECK(cuLinkDestroy(link));
	CHECK(cuModuleGetFunction(&run, module, "run"));
	CHECK(cuModuleGetGlobal(&total, NULL, module, "total"));
	CHECK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	CHECK(cuMemcpyDtoH(&value, total, 4));
	EQ(value, 7 + (2 * 100 + 20) + 1000);
	CHECK(cuModuleUnload(module));
}

static void errors(void) {
	CUlinkState link;
	char log[300] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof log};
	void *image;
	size_t size;
	CHECK(cuLinkCreate(2, options, values, &link));
	EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, "nonsense", 9, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_PTX);
	TRUE(strlen(log) > 0);
	EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, NULL, 9, NULL, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file.ptx", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND);
	CHECK(cuLinkDestroy(link));

	values[1] = (void *)sizeof log;
	CHECK(cuLinkCreate(2, options, values, &link));
	CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
	TRUE(cuLinkComplete(link, &image, &size) != CUDA_SUCCESS);
	TRUE(strstr(log, "twice") != NULL || strstr(log, "total") != NULL);
	CHECK(cuLinkDestroy(link));
}

int main(void) {
	CUdevice device;
	CUcontext context;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	whole();
	errors();
	CHECK(cuCtxDestroy(context));
	return 0;
}
