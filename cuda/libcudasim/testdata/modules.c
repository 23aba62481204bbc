// Images that cannot be loaded, and the logs of the compiler.
#include "check.h"

#define HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"

static const char good[] = HEAD ".visible .entry idle() { ret; }\n";
static const char bad[] = HEAD ".visible .entry idle() { add.u32 %r1, 1, 2; ret; }\n";

static void logs(void) {
	char info[64] = "unchanged", failure[200] = "", tiny[8] = "";
	CUmodule module;
	CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
		CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME, CU_JIT_OPTIMIZATION_LEVEL};
	void *values[] = {info, (void *)sizeof info, failure, (void *)sizeof failure, NULL, (void *)3};
	EXPECT(cuModuleLoadDataEx(&module, bad, 6, options, values), CUDA_ERROR_INVALID_PTX);
	TRUE(strlen(failure) > 0);
	TRUE(strstr(failure, "r1") != NULL);
	size_t used = (unsigned)(uintptr_t)values[3]; // with the NUL or without
	TRUE(used == strlen(failure) || used == strlen(failure) + 1);

	values[2] = tiny;
	values[3] = (void *)sizeof tiny;
	EXPECT(cuModuleLoadDataEx(&module, bad, 6, options, values), CUDA_ERROR_INVALID_PTX);
	TRUE(strlen(tiny) < sizeof tiny);

	values[1] = (void *)sizeof info;
	values[3] = (void *)sizeof tiny;
	CHECK(cuModuleLoadDataEx(&module, good, 6, options, values));
	CHECK(cuModuleUnload(module));
	EXPECT(cuModuleLoadDataEx(&module, good, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void images(void) {
	CUmodule module;
	CUfunction function;
	static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	EXPECT(cuModuleLoadData(NULL, good), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleLoadData(&module, elf), CUDA_ERROR_NO_BINARY_FOR_GPU);
	EXPECT(cuModuleLoadData(&module, ".version 99.0\n.target sm_52\n.address_size 64\n"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
	EXPECT(cuModuleLoadData(&module, HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n"), CUDA_ERROR_INVALID_PTX);
	EXPECT(cuModuleLoad(&module, "/no/such/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
	CHECK(cuModuleLoadData(&module, good));
	EXPECT(cuModuleGetFunction(&function, module, "missing"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetFunction(&function, module, ""), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetFunction(NULL, module, "idle"), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleGetFunction(&function, module, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuModuleUnload(module));
}

static void file(void) {
	char name[] = "/tmp/module-XXXXXX";
	CUmodule module;
	CUfunction function;
	FILE *f = fdopen(mkstemp(name), "w");
	fputs(good, f);
	fclose(f);
	CHECK(cuModuleLoad(&module, name));
	remove(name);
	CHECK(cuModuleGetFunction(&function, module, "idle"));
	CHECK(cuModuleUnload(module));
}

int main(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CHECK(cuInit(0));
	EXPECT(cuModuleLoadData(&module, good), CUDA_ERROR_INVALID_CONTEXT);
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	logs();
	images();
	file();
	CHECK(cuCtxDestroy(context));
	return 0;
}
