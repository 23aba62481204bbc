// A host function or callback that ends its thread counts as finished: the work after it continues.
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static CUstream s, t;
static CUdeviceptr word;
static atomic_int calls;

static void CUDA_CB count(void *data) {
	(void)data;
	calls++;
}

static void CUDA_CB leave(void *data) {
	calls++;
	pthread_exit(data);
}

static void CUDA_CB leave_status(CUstream stream, CUresult status, void *data) {
	(void)stream;
	EQ(status, CUDA_SUCCESS);
	leave(data);
}

static void CUDA_CB cancelled(void *data) {
	(void)data;
	calls++;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

// A driver call from a destructor of the thread that ends is refused as one from the function.
static pthread_key_t key;
static atomic_int answered;

static void call_driver(void *data) {
	CUdeviceptr p;
	(void)data;
	answered = cuMemAlloc(&p, 64);
}

static void CUDA_CB leave_with_destructor(void *data) {
	pthread_setspecific(key, data);
	leave(data);
}

static void in_a_stream(void) {
	unsigned v;
	for (int i = 0; i < 5; i++) {
		CHECK(cuLaunchHostFunc(s, leave, NULL));
		CHECK(cuStreamAddCallback(s, leave_status, NULL, 0));
		CHECK(cuLaunchHostFunc(s, count, NULL));
		CHECK(cuLaunchHostFunc(t, cancelled, NULL));
		CHECK(cuMemsetD32Async(word, 7 + i, 1, s));
		CHECK(cuStreamSynchronize(s));
		CHECK(cuStreamSynchronize(t));
		EQ(calls, 4 * (i + 1));
		CHECK(cuMemcpyDtoH(&v, word, sizeof v));
		EQ(v, 7 + i);
	}
	calls = 0;
}

static void polled(void) {
	CUresult r;
	CHECK(cuLaunchHostFunc(s, leave, NULL));
	for (int i = 0; i < 10000 && (r = cuStreamQuery(s)) == CUDA_ERROR_NOT_READY; i++)
		usleep(1000);
	CHECK(r);
	EQ(calls, 1);
	calls = 0;
}

static void in_a_graph(void) {
	CUgraph g;
	CUgraphExec x;
	CUgraphNode node[2];
	CUDA_HOST_NODE_PARAMS p = {leave, NULL};
	CHECK(cuGraphCreate(&g, 0));
	CHECK(cuGraphAddHostNode(&node[0], g, NULL, 0, &p));
	CHECK(cuGraphAddHostNode(&node[1], g, node, 1, &p));
	CHECK(cuGraphInstantiate(&x, g, 0));
	CHECK(cuGraphLaunch(x, s));
	CHECK(cuGraphLaunch(x, s));
	CHECK(cuStreamSynchronize(s));
	EQ(calls, 4);
	calls = 0;
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
}

static void with_a_destructor(void) {
	TRUE(pthread_key_create(&key, call_driver) == 0);
	CHECK(cuLaunchHostFunc(s, leave_with_destructor, &key));
	CHECK(cuStreamSynchronize(s));
	for (int i = 0; i < 10000 && !answered; i++)
		usleep(1000);
	EQ(answered, CUDA_ERROR_NOT_PERMITTED);
}

int main(void) {
	open_device();
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&word, 4));
	in_a_stream();
	polled();
	in_a_graph();
	with_a_destructor();
	return 0;
}
