// Functions of the program run in the order of their stream, may not call the driver,
// and may wait for threads that do. Streams wait for words of memory.
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

static CUcontext context;
static CUstream s, t;
static CUdeviceptr words;

static int order[8], calls;

static void CUDA_CB note(void *data) { order[calls++] = (int)(intptr_t)data; }

static void CUDA_CB note_status(CUstream stream, CUresult status, void *data) {
	TRUE(stream == s);
	order[calls++] = (int)(intptr_t)data + 100 * (int)status;
}

static void CUDA_CB call_driver(void *data) {
	CUresult *answer = data;
	CUevent e;
	CUdeviceptr memory;
	answer[0] = cuMemAlloc(&memory, 1);
	answer[1] = cuStreamQuery(s);
	answer[2] = cuEventCreate(&e, 0);
}

static void in_order(void) {
	CUresult answer[3];
	EXPECT(cuLaunchHostFunc(s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamAddCallback(s, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamAddCallback(s, note_status, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuLaunchHostFunc(s, note, (void *)1));
	CHECK(cuStreamAddCallback(s, note_status, (void *)2, 0));
	CHECK(cuLaunchHostFunc(s, note, (void *)3));
	CHECK(cuStreamSynchronize(s));
	EQ(calls, 3);
	for (int i = 0; i < 3; i++)
		EQ(order[i], i + 1);
	CHECK(cuLaunchHostFunc(s, call_driver, answer));
	CHECK(cuStreamSynchronize(s));
	for (int i = 0; i < 3; i++)
		EQ(answer[i], CUDA_ERROR_NOT_PERMITTED);
	CHECK(cuStreamQuery(s));
}

static void captured(void) {
	CUgraph g;
	CUgraphExec x;
	calls = 0;
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(cuLaunchHostFunc(s, note, (void *)1));
	CHECK(cuLaunchHostFunc(s, note, (void *)2));
	CHECK(cuStreamEndCapture(s, &g));
	EQ(calls, 0);
	CHECK(cuGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cuGraphLaunch(x, t));
	CHECK(cuStreamSynchronize(t));
	EQ(calls, 6);
	for (int i = 0; i < 6; i++)
		EQ(order[i], 1 + i % 2);
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
}

// A host function that waits for another thread, which uses the driver.
static pthread_barrier_t meet;

static void CUDA_CB wait_for_thread(void *data) {
	(void)data;
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
}

static void *enqueue(void *data) {
	CUdeviceptr memory;
	CHECK(cuCtxSetCurrent(context));
	pthread_barrier_wait(&meet);
	CHECK(cuMemsetD32Async(words, 77, 1, t));
	CHECK(cuEventRecord(*(CUevent *)data, t));
	CHECK(cuMemAllocAsync(&memory, 64, t));
	CHECK(cuMemFreeAsync(memory, t));
	pthread_barrier_wait(&meet);
	CHECK(cuStreamSynchronize(t));
	return NULL;
}

static void waits_for_a_thread(void) {
	pthread_t thread;
	CUevent e;
	unsigned v;
	CHECK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	TRUE(pthread_barrier_init(&meet, NULL, 2) == 0);
	TRUE(pthread_create(&thread, NULL, enqueue, &e) == 0);
	CHECK(cuLaunchHostFunc(s, wait_for_thread, NULL));
	CHECK(cuStreamSynchronize(s));
	TRUE(pthread_join(thread, NULL) == 0);
	CHECK(cuMemcpyDtoH(&v, words, sizeof v));
	EQ(v, 77);
	CHECK(cuEventDestroy(e));
}

static void *write_word(void *data) {
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamWriteValue32(t, words + 4, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
	atomic_store((volatile _Atomic unsigned *)data, 9);
	return NULL;
}

static void values(void) {
	unsigned v[4];
	uint64_t wide;
	pthread_t thread;
	_Atomic unsigned *pinned;
	CUdeviceptr mapped;
	CHECK(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&mapped, (void *)pinned, 0));
	*pinned = 0;
	CHECK(cuMemsetD32(words, 0, 4));
	EXPECT(cuStreamWaitValue32(s, words + 2, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWaitValue64(s, words + 4, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWaitValue32(s, words, 1, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWriteValue32(s, words, 1, 8), CUDA_ERROR_INVALID_VALUE);

	// From another stream.
	CHECK(cuStreamWaitValue32(s, words, 3, CU_STREAM_WAIT_VALUE_GEQ));
	CHECK(cuStreamWriteValue32(s, words + 8, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamWriteValue32(t, words, 2, CU_STREAM_WRITE_VALUE_DEFAULT));
	CHECK(cuStreamSynchronize(t));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamWriteValue32(t, words, 4, CU_STREAM_WRITE_VALUE_DEFAULT));
	CHECK(cuStreamSynchronize(s));
	CHECK(cuMemcpyDtoH(v, words, sizeof v));
	EQ(v[0], 4);
	EQ(v[2], 1);

	// From another thread: through the driver, and by its own store.
	CHECK(cuStreamWaitValue32(s, words + 4, 5, CU_STREAM_WAIT_VALUE_EQ));
	CHECK(cuStreamWaitValue32(s, mapped, 8, CU_STREAM_WAIT_VALUE_AND));
	TRUE(pthread_create(&thread, NULL, write_word, (void *)pinned) == 0);
	CHECK(cuStreamSynchronize(s));
	TRUE(pthread_join(thread, NULL) == 0);

	// Several at once.
	CUstreamBatchMemOpParams ops[3];
	memset(ops, 0, sizeof ops);
	ops[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	ops[0].waitValue.address = words;
	ops[0].waitValue.value = 6;
	ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	ops[1].writeValue.address = words + 8;
	ops[1].writeValue.value64 = 1ull << 40;
	ops[2].flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
	CHECK(cuStreamBatchMemOp(s, 2, ops, 0));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamWriteValue32(t, words, 6, CU_STREAM_WRITE_VALUE_DEFAULT));
	CHECK(cuStreamSynchronize(s));
	CHECK(cuMemcpyDtoH(&wide, words + 8, sizeof wide));
	TRUE(wide == 1ull << 40);
	EXPECT(cuStreamBatchMemOp(s, 257, ops, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamBatchMemOp(s, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamBatchMemOp(s, 1, ops, 1), CUDA_ERROR_INVALID_VALUE);

	// In a capture they are nodes.
	CUgraph g;
	CUgraphNode node;
	CUgraphExec x;
	size_t n = 1;
	CUDA_BATCH_MEM_OP_NODE_PARAMS p;
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CHECK(cuStreamBatchMemOp(s, 2, ops, 0));
	CHECK(cuStreamEndCapture(s, &g));
	CHECK(cuGraphGetNodes(g, &node, &n));
	EQ(n, 1);
	CHECK(cuGraphBatchMemOpNodeGetParams(node, &p));
	EQ(p.count, 2);
	EQ(p.paramArray[0].waitValue.operation, CU_STREAM_MEM_OP_WAIT_VALUE_32);
	EQ(p.paramArray[0].waitValue.value, 6);
	EQ(p.paramArray[1].writeValue.value64, 1ull << 40);
	ops[1].writeValue.value64 = 7;
	CHECK(cuGraphInstantiate(&x, g, 0));
	p.paramArray = ops;
	CHECK(cuGraphExecBatchMemOpNodeSetParams(x, node, &p));
	CHECK(cuMemsetD32(words, 0, 4));
	CHECK(cuGraphLaunch(x, s));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	CHECK(cuStreamWriteValue32(t, words, 6, CU_STREAM_WRITE_VALUE_DEFAULT));
	CHECK(cuStreamSynchronize(s));
	CHECK(cuMemcpyDtoH(&wide, words + 8, sizeof wide));
	EQ(wide, 7);
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
	CHECK(cuMemFreeHost((void *)pinned));
}

static void attributes(void) {
	CUstreamAttrValue v, w;
	memset(&v, 0, sizeof v);
	CHECK(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w));
	EQ(w.syncPolicy, CU_SYNC_POLICY_AUTO);
	v.accessPolicyWindow.base_ptr = (void *)(uintptr_t)words;
	v.accessPolicyWindow.num_bytes = 4096;
	v.accessPolicyWindow.hitRatio = 0.5f;
	CHECK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
	CHECK(cuStreamCopyAttributes(t, s));
	CHECK(cuStreamGetAttribute(t, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &w));
	TRUE(w.accessPolicyWindow.hitRatio == 0.5f && w.accessPolicyWindow.base_ptr == v.accessPolicyWindow.base_ptr);
	EXPECT(cuStreamGetAttribute(s, 99, &w), CUDA_ERROR_INVALID_VALUE);
}

// After a fault a callback receives its code, and a host function is not called.
static void after_a_fault(void) {
	static const char *ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry fail() { trap; }\n";
	CUmodule module;
	CUfunction fail;
	calls = 0;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&fail, module, "fail"));
	CHECK(cuLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
	CHECK(cuLaunchHostFunc(s, note, (void *)1));
	CHECK(cuStreamAddCallback(s, note_status, (void *)2, 0));
	EXPECT(cuStreamSynchronize(s), CUDA_ERROR_LAUNCH_FAILED);
	EQ(calls, 1);
	EQ(order[0], 2 + 100 * CUDA_ERROR_LAUNCH_FAILED);
}

int main(void) {
	CUdevice device;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&words, 16));
	in_order();
	captured();
	waits_for_a_thread();
	values();
	attributes();
	after_a_fault();
	return 0;
}
