// sim only: it reads files of the source tree
// env: REPRISE_SIM=h200,v100
// From a fatbin of nvcc -fatbin, the newest PTX that the device can run is loaded.
#include "check.h"

#define FOLDER "../simabi/internal/fatbin/testdata/"

static void *read_file(const char *name) {
	FILE *f = fopen(name, "rb");
	char *data = malloc(1 << 16);
	TRUE(f != NULL);
	TRUE(fread(data, 1, 1 << 16, f) > 0);
	fclose(f);
	return data;
}

// The kernel stores a value, one more when it was compiled for compute capability 7.5.
static void stores(CUmodule module, float want) {
	CUfunction function;
	CUdeviceptr to;
	float what = 2.5f, back[100];
	int n = 100;
	void *params[] = {&to, &what, &n};
	CHECK(cuModuleGetFunction(&function, module, "store"));
	CHECK(cuMemAlloc(&to, sizeof back));
	CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
	CHECK(cuMemcpyDtoH(back, to, sizeof back));
	TRUE(back[0] == want && back[99] == want);
	CHECK(cuMemFree(to));
	CHECK(cuModuleUnload(module));
}

static void load(CUdevice device, float want) {
	static const char *const files[] = {FOLDER "plain.fatbin", FOLDER "packed.fatbin"};
	CUcontext context;
	CUmodule module;
	CUlibrary library;
	CHECK(cuCtxCreate(&context, 0, device));
	for (int i = 0; i < 2; i++) {
		void *image = read_file(files[i]);
		CHECK(cuModuleLoadFatBinary(&module, image));
		stores(module, want);
		CHECK(cuModuleLoadData(&module, image));
		stores(module, want);
		CHECK(cuModuleLoad(&module, files[i]));
		stores(module, want);
		CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
		CHECK(cuLibraryGetModule(&module, library));
		CHECK(cuLibraryUnload(library));
		free(image);
	}
	CHECK(cuCtxDestroy(context));
}

int main(void) {
	CHECK(cuInit(0));
	load(0, 3.5f); // sm_90 runs compute_75
	load(1, 2.5f); // sm_70 runs compute_52
	return 0;
}
