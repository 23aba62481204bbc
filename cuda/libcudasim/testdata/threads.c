// Threads that share a context, each with streams and events of its own, get their own
// results, whatever the others do meanwhile.
// also with the per-thread default stream
#include "check.h"

#include <pthread.h>

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry add(.param .u64 p, .param .u32 v) {\n"
	" .reg .b32 %r<2>; .reg .b64 %d;\n"
	" ld.param.u64 %d, [p]; ld.param.u32 %r0, [v];\n"
	" ld.global.u32 %r1, [%d]; add.u32 %r1, %r1, %r0; st.global.u32 [%d], %r1; ret;\n}\n";

enum { THREADS = 8, ROUNDS = 40 };

static CUcontext context;
static CUfunction add;

static void launch(CUstream s, CUdeviceptr p, unsigned v) {
	void *args[] = {&p, &v};
	CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
}

static void CUDA_CB count(void *data) { ++*(int *)data; }

static void *work(void *data) {
	unsigned id = (unsigned)(intptr_t)data, v, want = 0;
	int counted = 0;
	CUdeviceptr p;
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuMemAlloc(&p, 4));
	CHECK(cuMemcpyHtoD(p, &want, 4));
	for (unsigned round = 1; round <= ROUNDS; round++) {
		CUstream s, t;
		CUevent e;
		CHECK(cuStreamCreate(&s, round % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
		CHECK(cuStreamCreateWithPriority(&t, CU_STREAM_NON_BLOCKING, -(int)(round % 3)));
		CHECK(cuEventCreate(&e, CU_EVENT_DEFAULT));
		launch(s, p, id * round);
		CHECK(cuEventRecord(e, s));
		CHECK(cuStreamWaitEvent(t, e, 0));
		launch(t, p, 1);
		CHECK(cuLaunchHostFunc(t, count, &counted));
		while (cuStreamQuery(t) == CUDA_ERROR_NOT_READY)
			;
		CHECK(cuEventQuery(e));
		want += id * round + 1;
		if (round % 4 == 0) { // and in a stream that all threads may mean
			launch(NULL, p, 5);
			CHECK(cuStreamSynchronize(NULL));
			want += 5;
		}
		CHECK(cuMemcpyDtoH(&v, p, 4));
		EQ(v, want);
		EQ(counted, round);
		CHECK(cuEventDestroy(e));
		CHECK(cuStreamDestroy(s));
		CHECK(cuStreamDestroy(t));
	}
	CHECK(cuMemFree(p));
	return NULL;
}

// Each thread captures its own graph.
static void *capture(void *data) {
	unsigned v = 0, id = (unsigned)(intptr_t)data;
	CUdeviceptr p;
	CUstream s;
	CUgraph g;
	CUgraphExec x;
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuMemAlloc(&p, 4));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemcpyHtoD(p, &v, 4));
	for (unsigned round = 0; round < 5; round++) {
		CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
		for (unsigned i = 0; i < 10; i++)
			launch(s, p, id);
		CHECK(cuStreamEndCapture(s, &g));
		CHECK(cuGraphInstantiate(&x, g, 0));
		CHECK(cuGraphLaunch(x, s));
		CHECK(cuGraphLaunch(x, s));
		CHECK(cuStreamSynchronize(s));
		CHECK(cuGraphExecDestroy(x));
		CHECK(cuGraphDestroy(g));
	}
	CHECK(cuMemcpyDtoH(&v, p, 4));
	EQ(v, 100 * id);
	CHECK(cuStreamDestroy(s));
	CHECK(cuMemFree(p));
	return NULL;
}

static void together(void *(*body)(void *)) {
	pthread_t threads[THREADS];
	for (intptr_t i = 0; i < THREADS; i++)
		TRUE(pthread_create(&threads[i], NULL, body, (void *)(i + 1)) == 0);
	for (int i = 0; i < THREADS; i++)
		TRUE(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
	CUmodule module;
	context = open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&add, module, "add"));
	together(work);
	together(capture);
	return 0;
}
