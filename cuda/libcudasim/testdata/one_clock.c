// env: REPRISE_SIM=h200,h200
// All GPUs and contexts of a process share one virtual time: earlier work of one context runs
// before later work of another, regardless of which one the host waits for.
#include "check.h"

#include <string.h>

#define N 16
#define BYTES (4 * N)

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry fail() { trap; }\n"
	// p[0] becomes p[0] + q[0], after some 100 us
	".visible .entry add(.param .u64 p, .param .u64 q) {\n"
	" .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %t;\n"
	" ld.param.u64 %rd0, [p]; ld.param.u64 %rd1, [q]; mov.u32 %r2, 20000;\n"
	"again: sub.u32 %r2, %r2, 1; setp.ne.u32 %t, %r2, 0; @%t bra again;\n"
	" ld.global.u32 %r0, [%rd0]; ld.global.u32 %r1, [%rd1]; add.u32 %r0, %r0, %r1; st.global.u32 [%rd0], %r0; ret;\n}\n";

static CUcontext ctx[2];
static CUdeviceptr mem[2];
static CUfunction add[2], fail[2];
static CUstream side[2]; // non-blocking

static void at(int i) { CHECK(cuCtxSetCurrent(ctx[i])); }

static unsigned word(CUdeviceptr p) {
	unsigned v;
	CHECK(cuMemcpyDtoH(&v, p, 4));
	return v;
}

static void launch(int i, CUdeviceptr p, CUdeviceptr q, CUstream s) {
	void *args[] = {&p, &q};
	CHECK(cuLaunchKernel(add[i], 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
}

static void settle(void) {
	for (int i = 0; i < 2; i++) {
		at(i);
		CHECK(cuCtxSynchronize());
	}
}

// Idle for longer than a fill takes: host calls that touch no device work.
static void dawdle(void) {
	CUevent e;
	for (int i = 0; i < 50; i++) {
		CHECK(cuEventCreate(&e, 0));
		CHECK(cuEventDestroy(e));
	}
}

// A fill of GPU b, long before a copy that GPU a makes to the same bytes.
static void early_fill(int a, int b) {
	CUevent e;
	settle();
	at(b);
	CHECK(cuMemsetD32Async(mem[b], 0, N, NULL));
	dawdle();
	at(a);
	CHECK(cuMemsetD32Async(mem[a], 7, N, NULL));
	CHECK(cuEventCreate(&e, 0));
	CHECK(cuMemcpyDtoDAsync(mem[b], mem[a], BYTES, NULL));
	CHECK(cuEventRecord(e, NULL));
	at(b);
	CHECK(cuStreamWaitEvent(NULL, e, 0));
	at(a);
	CHECK(cuCtxSynchronize());
	at(b);
	CHECK(cuCtxSynchronize());
	EQ(word(mem[b]), 7);
	CHECK(cuEventDestroy(e));
}

// A chain of waits back and forth: each step adds what the other GPU has.
static void ping_pong(void) {
	CUevent e[2];
	unsigned want[2] = {1, 1};
	settle();
	for (int i = 0; i < 2; i++) {
		at(i);
		CHECK(cuEventCreate(&e[i], CU_EVENT_DISABLE_TIMING));
		CHECK(cuMemsetD32(mem[i], 1, N));
	}
	settle();
	for (int round = 0; round < 10; round++) {
		int i = round % 2;
		CUstream s = round % 3 ? side[i] : NULL;
		at(i);
		if (round)
			CHECK(cuStreamWaitEvent(s, e[1 - i], 0));
		launch(i, mem[i], mem[1 - i], s);
		CHECK(cuEventRecord(e[i], s));
		want[i] += want[1 - i];
	}
	CHECK(cuEventSynchronize(e[1])); // waits for the last GPU only
	EQ(cuEventQuery(e[0]), CUDA_SUCCESS);
	for (int i = 0; i < 2; i++)
		EQ(word(mem[i]), want[i]);
	for (int i = 0; i < 2; i++)
		CHECK(cuEventDestroy(e[i]));
}

// The host does not wait for the other context in a wait of streams.
static void waits_on_the_device(void) {
	CUevent e;
	settle();
	at(0);
	CHECK(cuEventCreate(&e, 0));
	launch(0, mem[0], mem[0], side[0]);
	CHECK(cuEventRecord(e, side[0]));
	at(1);
	CHECK(cuStreamWaitEvent(side[1], e, 0));
	EXPECT(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	EXPECT(cuStreamQuery(side[1]), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamSynchronize(side[1]));
	CHECK(cuEventQuery(e));
	CHECK(cuEventDestroy(e));
}

// cuMemcpyPeer follows what is under way in both contexts, in any stream, and what comes
// later follows it. cuMemcpyPeerAsync is only in order with its stream.
static void copies_between(void) {
	CUDA_MEMCPY3D_PEER box;
	settle();
	for (int i = 0; i < 2; i++) {
		at(i);
		CHECK(cuMemsetD32(mem[i], i + 1, N));
	}
	settle();
	for (int to = 0; to < 2; to++) {
		int from = 1 - to;
		unsigned have = word(mem[from]), had = word(mem[to]);
		settle();
		at(from);
		launch(from, mem[from], mem[from], side[from]); // doubles it, after a while
		at(to);
		launch(to, mem[to], mem[to], side[to]);
		CHECK(cuMemcpyPeer(mem[to], ctx[to], mem[from], ctx[from], BYTES));
		launch(to, mem[to], mem[to], side[to]);
		at(from);
		CHECK(cuMemsetD32Async(mem[from], 50, N, side[from]));
		CHECK(cuCtxSynchronize());
		at(to);
		CHECK(cuCtxSynchronize());
		EQ(word(mem[to]), 4 * have);
		EQ(word(mem[from]), 50);
		TRUE(had != 4 * have);
	}
	settle();
	at(0);
	CHECK(cuMemsetD32(mem[0], 3, N));
	launch(0, mem[0], mem[0], side[0]);
	CHECK(cuMemcpyPeerAsync(mem[1], ctx[1], mem[0], ctx[0], BYTES, side[0]));
	CHECK(cuStreamSynchronize(side[0]));
	at(1);
	EQ(word(mem[1]), 6);
	memset(&box, 0, sizeof box);
	box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	box.srcDevice = mem[1];
	box.srcContext = ctx[1];
	box.dstDevice = mem[0];
	box.dstContext = ctx[0];
	box.WidthInBytes = BYTES;
	box.Height = box.Depth = 1;
	CHECK(cuMemsetD32Async(mem[1], 9, N, side[1]));
	CHECK(cuMemcpy3DPeer(&box));
	at(0);
	CHECK(cuStreamSynchronize(NULL));
	EQ(word(mem[0]), 9);
}

// A query or a wait in one context also advances the work of the other.
static void one_query_moves_all(void) {
	volatile unsigned *flag;
	int i = 0;
	settle();
	at(0);
	CHECK(cuMemHostAlloc((void **)&flag, 64, 0));
	*flag = 0;
	CHECK(cuMemsetD32Async((CUdeviceptr)(uintptr_t)flag, 5, 1, side[0]));
	at(1);
	while (!*flag && i++ < 1000)
		CHECK(cuStreamQuery(side[1]));
	EQ(*flag, 5);
	CHECK(cuMemFreeHost((void *)flag));
}

static void elapsed_times(void) {
	CUevent a, b, c;
	float ms;
	CUcontext third;
	CUdevice device;
	settle();
	at(0);
	CHECK(cuEventCreate(&a, 0));
	CHECK(cuEventCreate(&c, 0));
	CHECK(cuEventRecord(a, NULL));
	launch(0, mem[0], mem[0], NULL);
	CHECK(cuEventRecord(c, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuEventElapsedTime(&ms, a, c));
	TRUE(ms > 0.01 && ms < 10);
	at(1);
	CHECK(cuEventCreate(&b, 0));
	CHECK(cuEventRecord(b, NULL));
	CHECK(cuEventSynchronize(b));
	EXPECT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventElapsedTime(&ms, b, a), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventRecord(a, NULL), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuEventDestroy(b));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&third, 0, device)); // on the same GPU
	CHECK(cuEventCreate(&b, 0));
	CHECK(cuEventRecord(b, NULL));
	CHECK(cuEventSynchronize(b));
	EXPECT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuCtxDestroy(third));
	CHECK(cuEventDestroy(a));
	CHECK(cuEventDestroy(c));
}

// Two contexts of one GPU, their legacy streams and a context that ends with work under way.
static void contexts_of_a_gpu(void) {
	CUcontext other;
	CUdeviceptr p;
	CUevent e;
	settle();
	at(0);
	CHECK(cuMemsetD32(mem[0], 0, N));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxCreate(&other, 0, 0));
	CHECK(cuMemAlloc(&p, BYTES));
	CHECK(cuMemsetD32Async(p, 4, N, NULL));
	CHECK(cuMemcpyDtoDAsync(mem[0], p, BYTES, NULL)); // early, of the other context
	dawdle();
	at(0);
	CHECK(cuMemsetD32Async(mem[0], 6, N, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxSetCurrent(other));
	CHECK(cuCtxSynchronize());
	at(0);
	EQ(word(mem[0]), 6);

	CHECK(cuCtxSetCurrent(other));
	CHECK(cuMemsetD32Async(p, 8, N, NULL));
	CHECK(cuEventCreate(&e, 0));
	CHECK(cuEventRecord(e, NULL));
	at(0);
	CHECK(cuStreamWaitEvent(NULL, e, 0));
	CHECK(cuMemcpyDtoDAsync(mem[0], p, BYTES, NULL));
	dawdle();
	CHECK(cuCtxDestroy(other)); // by now the copy has been made
	CHECK(cuCtxSynchronize());
	EQ(word(mem[0]), 8);
}

static void managed(void) {
	CUdeviceptr m;
	settle();
	at(0);
	CHECK(cuMemAllocManaged(&m, BYTES, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuMemsetD32Async(m, 1, N, side[0]));
	dawdle();
	at(1);
	CHECK(cuMemsetD32Async(m, 2, N, side[1]));
	dawdle();
	at(0);
	launch(0, m, m, side[0]);
	at(0);
	CHECK(cuStreamSynchronize(side[0]));
	EQ(*(unsigned *)(uintptr_t)m, 4);
	at(1);
	CHECK(cuStreamSynchronize(side[1]));
	EQ(*(unsigned *)(uintptr_t)m, 4);
	CHECK(cuMemFree(m));
}

// A stream of one GPU waits for a word that work of the other writes.
static void values(void) {
	CUdeviceptr words;
	settle();
	at(0);
	CHECK(cuMemAlloc(&words, 16));
	CHECK(cuMemsetD32(words, 0, 4));
	CHECK(cuCtxSynchronize());
	CHECK(cuStreamWaitValue32(side[0], words, 5, CU_STREAM_WAIT_VALUE_EQ));
	CHECK(cuMemsetD32Async(words + 4, 6, 1, side[0]));
	at(1);
	CHECK(cuMemsetD32Async(words, 5, 1, side[1]));
	at(0);
	CHECK(cuStreamSynchronize(side[0]));
	EQ(word(words + 4), 6);
	CHECK(cuMemFree(words));
}

// A fault in one context does not affect others, even one that waits for its work.
static void faults(void) {
	CUevent e;
	settle();
	at(0);
	CHECK(cuEventCreate(&e, 0));
	CHECK(cuLaunchKernel(fail[0], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	CHECK(cuEventRecord(e, NULL));
	at(1);
	CHECK(cuStreamWaitEvent(side[1], e, 0));
	CHECK(cuMemsetD32Async(mem[1], 11, N, side[1]));
	CHECK(cuStreamSynchronize(side[1]));
	EQ(word(mem[1]), 11);
	at(0);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	at(1);
	CHECK(cuCtxSynchronize());
}

int main(void) {
	CUmodule module;
	int count;
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&count));
	if (count < 2)
		return 0;
	for (int i = 0; i < 2; i++) {
		CHECK(cuCtxCreate(&ctx[i], 0, i));
		CHECK(cuMemAlloc(&mem[i], BYTES));
		CHECK(cuModuleLoadData(&module, ptx));
		CHECK(cuModuleGetFunction(&add[i], module, "add"));
		CHECK(cuModuleGetFunction(&fail[i], module, "fail"));
		CHECK(cuStreamCreate(&side[i], CU_STREAM_NON_BLOCKING));
	}
	CHECK(cuCtxEnablePeerAccess(ctx[0], 0));
	at(0);
	CHECK(cuCtxEnablePeerAccess(ctx[1], 0));
	early_fill(0, 1);
	early_fill(1, 0);
	ping_pong();
	waits_on_the_device();
	copies_between();
	one_query_moves_all();
	elapsed_times();
	contexts_of_a_gpu();
	managed();
	values();
	faults();
	return 0;
}
