// Streams and events: results of their functions, and the order of work.
// also with the per-thread default stream
#include "check.h"

// spin counts down n times and then stores a value.
static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry spin(.param .u64 p, .param .u32 v, .param .u32 n) {\n"
	" .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
	" ld.param.u64 %d0, [p]; ld.param.u32 %r0, [v]; ld.param.u32 %r1, [n];\n"
	" cvta.to.global.u64 %d0, %d0;\n"
	"L: sub.u32 %r1, %r1, 1; setp.ne.u32 %q, %r1, 0; @%q bra L;\n"
	" st.global.u32 [%d0], %r0; ret;\n}\n";

enum { LONG = 100000 }; // turns of a loop: about a tenth of a millisecond

static CUfunction spin;
static CUdeviceptr word;

static void launch(CUstream s, unsigned value, unsigned turns) {
	void *args[] = {&word, &value, &turns};
	CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
}

static unsigned load(void) {
	unsigned v;
	CHECK(cuMemcpyDtoH(&v, word, sizeof v));
	return v;
}

static void properties(CUcontext context) {
	int priority;
	unsigned flags;
	unsigned long long a, b;
	CUcontext of;
	CUstream s, t;
	EXPECT(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreateWithPriority(&t, CU_STREAM_DEFAULT, -1000));
	CHECK(cuStreamGetFlags(s, &flags));
	EQ(flags, CU_STREAM_NON_BLOCKING);
	CHECK(cuStreamGetFlags(t, &flags));
	EQ(flags, CU_STREAM_DEFAULT);
	CHECK(cuStreamGetFlags(NULL, &flags));
	EQ(flags, CU_STREAM_DEFAULT);
	CHECK(cuStreamGetPriority(s, &priority));
	EQ(priority, 0);
	CHECK(cuStreamGetPriority(t, &priority));
	TRUE(priority > -1000 && priority <= 0); // clamped
	CHECK(cuStreamGetCtx(t, &of));
	TRUE(of == context);
	CHECK(cuStreamGetId(s, &a));
	CHECK(cuStreamGetId(t, &b));
	TRUE(a != b);
	CHECK(cuStreamQuery(s));
	CHECK(cuStreamDestroy(s));
	CHECK(cuStreamDestroy(t));
}

static void events(void) {
	CUstream s, t;
	CUevent a, b, quiet;
	float ms;
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	EXPECT(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventCreate(&a, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventCreate(&a, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuEventCreate(&a, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_ERROR_NOT_SUPPORTED);
	CHECK(cuEventCreate(&a, CU_EVENT_DEFAULT));
	CHECK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
	CHECK(cuEventCreate(&quiet, CU_EVENT_DISABLE_TIMING));

	// Never recorded: nothing to wait for, nothing to time.
	CHECK(cuEventQuery(a));
	CHECK(cuEventSynchronize(a));
	CHECK(cuStreamWaitEvent(s, a, 0));
	EXPECT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);

	CHECK(cuEventRecord(a, s));
	launch(s, 1, LONG);
	CHECK(cuEventRecord(b, s));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	EXPECT(cuEventQuery(b), CUDA_ERROR_NOT_READY);
	EXPECT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamWaitEvent(t, b, 0));
	launch(t, 2, 1);
	while (cuEventQuery(b) == CUDA_ERROR_NOT_READY)
		;
	CHECK(cuEventQuery(b));
	CHECK(cuStreamSynchronize(t));
	EQ(load(), 2);
	CHECK(cuEventElapsedTime(&ms, a, b));
	TRUE(ms > 0.01f);
	CHECK(cuEventElapsedTime(&ms, b, a));
	TRUE(ms < -0.01f);

	CHECK(cuEventRecord(quiet, s));
	CHECK(cuEventSynchronize(quiet));
	EXPECT(cuEventElapsedTime(&ms, a, quiet), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuEventElapsedTime(NULL, a, b), CUDA_ERROR_INVALID_VALUE);

	// What waits for a record goes on waiting when the event is recorded again or
	// destroyed.
	launch(s, 3, LONG);
	CHECK(cuEventRecord(a, s));
	CHECK(cuStreamWaitEvent(t, a, 0));
	CHECK(cuEventRecord(a, t));
	CHECK(cuEventDestroy(a));
	launch(t, 4, 1);
	CHECK(cuStreamDestroy(s));
	CHECK(cuStreamSynchronize(t));
	EQ(load(), 4);
	CHECK(cuEventDestroy(b));
	CHECK(cuEventDestroy(quiet));
	CHECK(cuStreamDestroy(t));
}

// unordered reports whether short work in the second stream is done before long work
// that was enqueued earlier in the first.
static int unordered(CUstream first, CUstream second) {
	CUevent a, b;
	CHECK(cuEventCreate(&a, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&b, CU_EVENT_DISABLE_TIMING));
	launch(first, 5, LONG);
	CHECK(cuEventRecord(a, first));
	launch(second, 6, 1);
	CHECK(cuEventRecord(b, second));
	CHECK(cuEventSynchronize(b));
	CUresult state = cuEventQuery(a);
	TRUE(state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY);
	CHECK(cuCtxSynchronize());
	CHECK(cuEventDestroy(a));
	CHECK(cuEventDestroy(b));
	return state == CUDA_ERROR_NOT_READY;
}

static void defaults(void) {
	CUstream blocking, other, free;
	CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	CHECK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	CHECK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
	TRUE(unordered(blocking, other));
	TRUE(!unordered(blocking, CU_STREAM_LEGACY));
	TRUE(!unordered(CU_STREAM_LEGACY, blocking));
	TRUE(!unordered(CU_STREAM_LEGACY, CU_STREAM_PER_THREAD));
	TRUE(!unordered(CU_STREAM_PER_THREAD, CU_STREAM_LEGACY));
	TRUE(unordered(CU_STREAM_PER_THREAD, blocking));
	TRUE(unordered(free, CU_STREAM_LEGACY));
	TRUE(unordered(CU_STREAM_LEGACY, free));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
	TRUE(unordered(NULL, blocking));
	TRUE(!unordered(NULL, CU_STREAM_PER_THREAD));
#else
	TRUE(!unordered(NULL, blocking));
	TRUE(!unordered(NULL, CU_STREAM_PER_THREAD));
	TRUE(!unordered(NULL, CU_STREAM_LEGACY));
#endif

	// Through the legacy stream two blocking ones are ordered, also by what waits in
	// it.
	CUevent e;
	CHECK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	launch(blocking, 7, LONG);
	CHECK(cuEventRecord(e, blocking));
	launch(CU_STREAM_LEGACY, 8, 1);
	launch(other, 9, 1);
	CHECK(cuStreamSynchronize(other));
	CHECK(cuEventQuery(e));
	EQ(load(), 9);
	launch(free, 10, LONG);
	CHECK(cuEventRecord(e, free));
	CHECK(cuStreamWaitEvent(CU_STREAM_LEGACY, e, 0));
	launch(blocking, 11, 1);
	CHECK(cuStreamSynchronize(blocking));
	CHECK(cuStreamQuery(free));
	launch(other, 12, LONG);
	EXPECT(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
	CHECK(cuStreamQuery(other));
	EQ(load(), 12);
	EXPECT(cuStreamDestroy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuStreamDestroy(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuEventDestroy(e));
	CHECK(cuStreamDestroy(blocking));
	CHECK(cuStreamDestroy(other));
	CHECK(cuStreamDestroy(free));
}

int main(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	properties(context);
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&spin, module, "spin"));
	CHECK(cuMemAlloc(&word, 4));
	events();
	defaults();
	CHECK(cuMemFree(word));
	CHECK(cuCtxDestroy(context));
	return 0;
}
