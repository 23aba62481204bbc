// A callback of the program calls the driver in the middle of a call that then fails.
#include "../check.h"

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n";

static CUmodule module;

static size_t unload(int threads) {
	cuModuleUnload(module);
	return threads;
}

int main(void) {
	CUfunction function;
	int grid, block;
	open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&function, module, "empty"));
	CUresult result = cuOccupancyMaxPotentialBlockSize(&grid, &block, function, unload, 0, 32);
	fprintf(stderr, "returned cuOccupancyMaxPotentialBlockSize %d\n", result);
	return 0;
}
