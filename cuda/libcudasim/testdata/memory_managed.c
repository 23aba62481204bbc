// sim only: it requires a device without page faults, and the virtual clock
// env: REPRISE_SIM=h200, gtx960
// Managed memory moves to the device that accesses it, and is prefetched to the host before the host accesses it.
#include "check.h"

#include <reprise.h>

#define WORDS (1 << 18)
#define BYTES (4 * WORDS)

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry twice(.param .u64 dst, .param .u64 src, .param .u32 n) {\n"
	"	.reg .pred %p;\n	.reg .b32 %r<8>;\n	.reg .b64 %rd<8>;\n"
	"	ld.param.u64 %rd0, [dst];\n	ld.param.u64 %rd1, [src];\n	ld.param.u32 %r0, [n];\n"
	"	mov.u32 %r1, %ctaid.x;\n	mov.u32 %r2, %ntid.x;\n	mov.u32 %r3, %tid.x;\n"
	"	mad.lo.s32 %r4, %r1, %r2, %r3;\n	setp.ge.u32 %p, %r4, %r0;\n	@%p ret;\n"
	"	mul.wide.u32 %rd2, %r4, 4;\n	add.s64 %rd3, %rd0, %rd2;\n	add.s64 %rd4, %rd1, %rd2;\n"
	"	ld.global.u32 %r5, [%rd4];\n	add.u32 %r6, %r5, %r5;\n	st.global.u32 [%rd3], %r6;\n	ret;\n}\n";

static CUfunction twice;
static CUdeviceptr device_words, managed;

static uint64_t took(uint64_t start) {
	CHECK(cuCtxSynchronize());
	return repriseNow() - start;
}

// launch returns the time of a kernel that reads the first n managed words.
static uint64_t launch(unsigned n) {
	void *params[] = {&device_words, &managed, &n};
	uint64_t start = repriseNow();
	CHECK(cuLaunchKernel(twice, (n + 127) / 128, 1, 1, 128, 1, 1, 0, 0, params, NULL));
	return took(start);
}

static void open_gpu(int ordinal) {
	CUcontext context;
	CUmodule module;
	CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&twice, module, "twice"));
	CHECK(cuMemAlloc(&device_words, BYTES));
	CHECK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
	for (unsigned i = 0; i < WORDS; i++)
		((unsigned *)managed)[i] = i;
}

static void check_words(unsigned factor) {
	static unsigned out[WORDS];
	CHECK(cuMemcpyDtoH(out, device_words, BYTES));
	for (unsigned i = 0; i < WORDS; i++)
		EQ(out[i], factor * i);
}

static void faults(void) {
	open_gpu(0);
	uint64_t cold = launch(WORDS), warm = launch(WORDS), start = repriseNow();
	check_words(2);
	TRUE(cold > warm + 40000); // 1 MiB at 23 GB/s takes 45 us
	CHECK(cuMemPrefetchAsync(managed, BYTES, CU_DEVICE_CPU, 0));
	took(start);
	TRUE(launch(WORDS / 2) > warm + 20000); // half of it
	uint64_t rest = launch(WORDS);
	TRUE(rest > warm + 20000 && rest < cold - 10000);
	CHECK(cuMemPrefetchAsync(managed, BYTES / 2, CU_DEVICE_CPU, 0));
	CHECK(cuMemPrefetchAsync(managed, BYTES / 2, 0, 0));
	CHECK(cuCtxSynchronize());
	TRUE(launch(WORDS) <= warm + 5000);
	CHECK(cuStreamAttachMemAsync(0, managed, 0, CU_MEM_ATTACH_HOST));
	CHECK(cuStreamAttachMemAsync(0, managed, 0, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuCtxSynchronize());
	TRUE(launch(WORDS) > warm + 40000);

	// A stream that is captured takes no prefetch: a graph has no node for it.
	CUstream stream;
	CUgraph graph;
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT(cuMemPrefetchAsync(managed, BYTES, 0, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void bulk(void) {
	int value;
	open_gpu(1);
	CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1));
	EQ(value, 0);
	uint64_t cold = launch(1), warm = launch(1); // one word, and all of the memory moves
	TRUE(cold > warm + 80000);                   // 1 MiB at 12 GB/s takes 87 us
	EXPECT(cuMemPrefetchAsync(managed, BYTES, 1, 0), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuMemPrefetchAsync(managed, BYTES, CU_DEVICE_CPU, 0), CUDA_ERROR_INVALID_DEVICE);
	TRUE(launch(WORDS) < cold);
	check_words(2);
	CHECK(cuStreamAttachMemAsync(0, managed, 0, CU_MEM_ATTACH_HOST));
	CHECK(cuStreamAttachMemAsync(0, managed, 0, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuCtxSynchronize());
	for (unsigned i = 0; i < WORDS; i++)
		((unsigned *)managed)[i] = 5 * i;
	TRUE(launch(1) > warm + 80000);
	launch(WORDS);
	check_words(10);
}

int main(void) {
	CHECK(cuInit(0));
	faults();
	bulk();
	return 0;
}
