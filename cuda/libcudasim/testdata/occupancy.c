// How many blocks a multiprocessor holds, by the rules of the occupancy calculator.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".extern .shared .align 4 .b8 dynamic[];\n"
	".visible .entry light(.param .u64 out)\n"
	"{ .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [out]; ld.shared.u32 %r, [dynamic]; st.global.u32 [%d], %r; ret; }\n"
	".visible .entry bounded() .maxntid 96, 1, 1 { ret; }\n";

static CUdevice device;
static CUfunction light, bounded;

static int attribute(CUdevice_attribute a) {
	int value;
	CHECK(cuDeviceGetAttribute(&value, a, device));
	return value;
}

static int blocks(int threads, size_t shared) {
	int n = -1;
	CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, light, threads, shared));
	return n;
}

static int smallest(int a, int b) { return a < b ? a : b; }

// The kernel has few registers: threads, blocks and shared memory are what limits it.
static int expected(int threads, int shared) {
	int whole = (threads + 31) / 32 * 32;
	int n = smallest(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
		attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / whole);
	int each = (shared + attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) + 127) / 128 * 128;
	if (each > 0)
		n = smallest(n, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / each);
	return n;
}

static size_t four_bytes_per_thread(int threads) {
	CUcontext current;
	CHECK(cuCtxGetCurrent(&current)); // it may call the driver
	return 4 * threads;
}

static size_t all_of_it(int threads) { return threads > 64 ? 49152 : 16384; }

int main(void) {
	CUcontext context;
	CUmodule module;
	int n, grid, block;
	size_t bytes;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&light, module, "light"));
	CHECK(cuModuleGetFunction(&bounded, module, "bounded"));

	for (int threads = 1; threads <= 1024; threads += 31)
		for (int shared = 0; shared <= 49152; shared += 4096)
			EQ(blocks(threads, shared), expected(threads, shared));
	EQ(blocks(1025, 0), 0);
	EQ(blocks(128, 49153), 0); // above 48 KiB, and not permitted by cuFuncSetAttribute
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, light, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, light, 32, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, light, 32, 0, 2), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, light, 32, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));

	// Whole multiprocessors are filled with blocks of 1024 where they hold 2048 threads or 1024.
	int multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	if (attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) % 1024 == 0) {
		CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, light, NULL, 0, 0));
		EQ(block, 1024);
		EQ(grid, blocks(1024, 0) * multiprocessors);
		CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, light, four_bytes_per_thread, 0, 0));
		EQ(block, 1024);
	}
	CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, light, NULL, 0, 100));
	for (int threads = 32; threads <= 100; threads = smallest(threads + 32, threads == 100 ? 101 : 100)) {
		int filled = threads * blocks(threads, 0);
		TRUE(block * blocks(block, 0) > filled || (block * blocks(block, 0) == filled && block >= threads));
	}
	CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, bounded, NULL, 0, 0));
	TRUE(block <= 96);
	CHECK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, light, all_of_it, 0, 128, 0));
	EQ(grid % multiprocessors, 0);
	TRUE(block * blocks(block, all_of_it(block)) >= 128 * blocks(128, all_of_it(128)));
	TRUE(block * blocks(block, all_of_it(block)) >= 64 * blocks(64, all_of_it(64)));

	for (int want = 1; want <= 16; want *= 2) {
		CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, light, want, 64));
		TRUE(blocks(64, bytes) >= want);
		TRUE(bytes == 49152 || blocks(64, bytes + 128) < want);
	}
	EXPECT(cuOccupancyAvailableDynamicSMemPerBlock(NULL, light, 1, 64), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuCtxDestroy(context));
	return 0;
}
