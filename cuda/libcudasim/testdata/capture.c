// Stream capture: the graphs that result from forks and joins, and the results of calls that cannot be
// captured.
#include "check.h"

#include <pthread.h>

// add stores *a + *b + c.
static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry add(.param .u64 to, .param .u64 a, .param .u64 b, .param .u32 c) {\n"
	" .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
	" ld.param.u64 %d0, [to]; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r0, [c];\n"
	" ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2];\n"
	" add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r0; st.global.u32 [%d0], %r1; ret;\n}\n";

static CUfunction add;
static CUdeviceptr words;
static CUstream s, t, u; // s and u are blocking, t is not
static CUevent e, f;

static void launch(CUstream in, int to, int a, int b, unsigned c) {
	CUdeviceptr at[3] = {words + 4 * to, words + 4 * a, words + 4 * b};
	void *args[] = {&at[0], &at[1], &at[2], &c};
	CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, in, args, NULL));
}

static void begin(CUstream in) { CHECK(cuStreamBeginCapture(in, CU_STREAM_CAPTURE_MODE_GLOBAL)); }

static CUgraph end(CUstream in) {
	CUgraph g;
	CHECK(cuStreamEndCapture(in, &g));
	return g;
}

static void status_is(CUstream in, CUstreamCaptureStatus want) {
	CUstreamCaptureStatus have;
	CHECK(cuStreamIsCapturing(in, &have));
	EQ(have, want);
}

// fails ends a capture and expects an error code and no graph.
static void fails(CUstream in, CUresult code) {
	CUgraph g = (CUgraph)1;
	EXPECT(cuStreamEndCapture(in, &g), code);
	TRUE(g == NULL);
	status_is(in, CU_STREAM_CAPTURE_STATUS_NONE);
}

// invalid ends a capture that the call before has invalidated.
static void invalid(CUstream in) {
	status_is(in, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	fails(in, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void count(CUgraph g, size_t nodes, size_t edges) {
	size_t n;
	CHECK(cuGraphGetNodes(g, NULL, &n));
	EQ(n, nodes);
	CHECK(cuGraphGetEdges(g, NULL, NULL, &n));
	EQ(n, edges);
}

static void forks_and_joins(void) {
	unsigned v[4];
	begin(s);
	status_is(s, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	status_is(t, CU_STREAM_CAPTURE_STATUS_NONE);
	launch(s, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	status_is(t, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	launch(t, 1, 0, 0, 10);
	CHECK(cuEventRecord(f, t));
	launch(s, 2, 0, 0, 100);
	CHECK(cuStreamWaitEvent(s, f, 0));
	launch(s, 3, 1, 2, 0);
	CUgraph g = end(s);
	status_is(s, CU_STREAM_CAPTURE_STATUS_NONE);
	status_is(t, CU_STREAM_CAPTURE_STATUS_NONE);
	count(g, 4, 4);

	CUgraphNode nodes[4], from[4], to[4];
	size_t n = 4;
	int has[4][4] = {{0}};
	CHECK(cuGraphGetNodes(g, nodes, &n));
	CHECK(cuGraphGetEdges(g, from, to, &n));
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				has[i][j] |= from[k] == nodes[i] && to[k] == nodes[j];
	TRUE(has[0][1] && has[0][2] && has[1][3] && has[2][3]);

	// Nothing has run yet. Each launch runs all work in the right order.
	CUgraphExec x;
	CHECK(cuGraphInstantiate(&x, g, 0));
	CHECK(cuMemcpyDtoH(v, words, sizeof v));
	for (int i = 0; i < 4; i++)
		EQ(v[i], 0);
	for (unsigned i = 1; i <= 3; i++) {
		CHECK(cuGraphLaunch(x, u));
		CHECK(cuStreamSynchronize(u));
		CHECK(cuMemcpyDtoH(v, words, sizeof v));
		EQ(v[0], (1u << i) - 1);
		EQ(v[3], 4 * v[0] + 110);
	}

	// An instance that is launched in a capture becomes a child.
	begin(s);
	CHECK(cuGraphLaunch(x, s));
	launch(s, 0, 0, 0, 0);
	CUgraph outer = end(s);
	count(outer, 2, 1);
	CUgraphNode child;
	CUgraphNodeType type;
	n = 1;
	CHECK(cuGraphGetRootNodes(outer, &child, &n));
	CHECK(cuGraphNodeGetType(child, &type));
	EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
	CHECK(cuGraphDestroy(outer));
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));

	// A fork without work has nothing to join.
	begin(s);
	launch(s, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	g = end(s);
	count(g, 1, 0);
	CHECK(cuGraphDestroy(g));

	// The host's waits before a capture and those for an event without a record leave
	// no trace.
	CUevent fresh;
	CHECK(cuEventCreate(&fresh, 0));
	begin(s);
	CHECK(cuStreamWaitEvent(s, fresh, 0));
	g = end(s);
	count(g, 0, 0);
	CHECK(cuGraphDestroy(g));
	CHECK(cuEventDestroy(fresh));
}

// external records and waits are nodes, which mark and wait in each launch.
static void external(void) {
	float ms;
	CUgraphNode nodes[3];
	CUgraphNodeType type;
	size_t n = 3;
	CHECK(cuEventRecord(e, s));
	CHECK(cuEventRecord(f, s));
	EXPECT(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
	begin(s);
	CHECK(cuStreamWaitEvent(s, f, CU_EVENT_WAIT_EXTERNAL));
	launch(s, 0, 0, 0, 0);
	CHECK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
	CUgraph g = end(s);
	count(g, 3, 2);
	CHECK(cuGraphGetNodes(g, nodes, &n));
	CHECK(cuGraphNodeGetType(nodes[0], &type));
	EQ(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	CHECK(cuGraphNodeGetType(nodes[2], &type));
	EQ(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	CUgraphExec x;
	CHECK(cuGraphInstantiate(&x, g, 0));
	CHECK(cuGraphLaunch(x, t));
	CHECK(cuEventSynchronize(e));
	CHECK(cuEventElapsedTime(&ms, f, e));
	TRUE(ms > 0);
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
}

static void set_of_dependencies(void) {
	CUstreamCaptureStatus status;
	cuuint64_t id, other;
	CUgraph g, h;
	CUgraphNode extra;
	const CUgraphNode *set;
	size_t n;
	EXPECT(cuStreamGetCaptureInfo_v2(s, NULL, NULL, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuStreamGetCaptureInfo_v2(s, &status, &id, &g, &set, &n));
	EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
	EXPECT(cuStreamUpdateCaptureDependencies(s, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES), CUDA_ERROR_ILLEGAL_STATE);

	begin(s);
	CHECK(cuStreamGetCaptureInfo_v2(s, &status, &id, &g, &set, &n));
	EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EQ(n, 0);
	launch(s, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	CHECK(cuStreamGetCaptureInfo_v2(t, &status, &other, &h, &set, &n));
	TRUE(id == other && g == h);
	EQ(n, 1);
	CUgraphNode first = set[0];
	CHECK(cuGraphAddEmptyNode(&extra, g, &first, 1));
	CHECK(cuStreamUpdateCaptureDependencies(t, &extra, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	CHECK(cuStreamGetCaptureInfo_v2(t, &status, NULL, NULL, &set, &n));
	EQ(n, 2);
	TRUE(set[0] == first && set[1] == extra);
	launch(t, 1, 0, 0, 1);
	count(g, 3, 3);
	// Streams without dependencies on the capture need not be joined.
	CHECK(cuStreamUpdateCaptureDependencies(t, &first, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	EXPECT(cuStreamUpdateCaptureDependencies(t, &first, 1, 2), CUDA_ERROR_INVALID_VALUE);
	CUgraph elsewhere;
	CUgraphNode foreign;
	CHECK(cuGraphCreate(&elsewhere, 0));
	CHECK(cuGraphAddEmptyNode(&foreign, elsewhere, NULL, 0));
	EXPECT(cuStreamUpdateCaptureDependencies(t, &foreign, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES), CUDA_ERROR_INVALID_VALUE);
	TRUE(end(s) == g);
	CHECK(cuGraphDestroy(g));

	begin(s);
	CHECK(cuStreamGetCaptureInfo_v2(s, &status, &other, NULL, NULL, NULL));
	TRUE(other != id);
	CHECK(cuGraphDestroy(end(s)));

	// Into a graph that exists.
	CHECK(cuStreamBeginCaptureToGraph(s, elsewhere, &foreign, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
	launch(s, 0, 0, 0, 1);
	TRUE(end(s) == elsewhere);
	count(elsewhere, 2, 1);
	CHECK(cuGraphDestroy(elsewhere));
}

static void beginning_and_ending(void) {
	CUgraph g;
	EXPECT(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamBeginCapture(s, 3), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
	begin(s);
	EXPECT(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
	EXPECT(cuStreamEndCapture(s, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphDestroy(end(s)));

	// The thread's own stream can be captured.
	begin(CU_STREAM_PER_THREAD);
	launch(CU_STREAM_PER_THREAD, 0, 0, 0, 1);
	g = end(CU_STREAM_PER_THREAD);
	count(g, 1, 0);
	CHECK(cuGraphDestroy(g));

	begin(s);
	launch(s, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	EXPECT(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	invalid(s);

	begin(s);
	launch(s, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	launch(t, 0, 0, 0, 1);
	fails(s, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	status_is(t, CU_STREAM_CAPTURE_STATUS_NONE);
	CHECK(cuStreamQuery(t));
}

static void dependencies_that_cannot_be(void) {
	// Two captures.
	begin(s);
	begin(t);
	launch(t, 0, 0, 0, 1);
	CHECK(cuEventRecord(e, t));
	EXPECT(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
	invalid(s);
	invalid(t);

	// Work outside.
	CHECK(cuEventRecord(e, t));
	begin(s);
	EXPECT(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	CUdeviceptr at = words;
	unsigned c = 0;
	void *args[] = {&at, &at, &at, &c};
	EXPECT(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, args, NULL), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT(cuEventRecord(e, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	invalid(s);

	// The legacy stream would wait for a blocking one.
	CUstreamCaptureStatus status;
	begin(s);
	EXPECT(cuStreamIsCapturing(CU_STREAM_LEGACY, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	status_is(s, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EXPECT(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, args, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	invalid(s);
	begin(t);
	CHECK(cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
	EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
	CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, args, NULL));
	CHECK(cuEventRecord(e, t));
	EXPECT(cuStreamWaitEvent(CU_STREAM_LEGACY, e, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	invalid(t);
}

static void waiting_for_nothing(void) {
	float ms;
	EXPECT(cuEventSynchronize(e), CUDA_ERROR_CAPTURED_EVENT);
	begin(s);
	EXPECT(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	invalid(s);
	begin(s);
	EXPECT(cuStreamQuery(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	invalid(s);
	begin(s);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	invalid(s);
	begin(s);
	CHECK(cuEventRecord(e, s));
	EXPECT(cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
	invalid(s);
	CHECK(cuEventRecord(f, t));
	begin(s);
	CHECK(cuEventRecord(e, s));
	EXPECT(cuEventElapsedTime(&ms, e, f), CUDA_ERROR_CAPTURED_EVENT);
	invalid(s);
	// An event that was recorded in a capture cannot be waited for afterwards, until it is
	// recorded again.
	EXPECT(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_CAPTURED_EVENT);
	CHECK(cuEventRecord(e, s));
	CHECK(cuStreamWaitEvent(t, e, 0));
	CHECK(cuEventSynchronize(e));
}

// copies and memsets of every kind are nodes; what cannot be one invalidates.
static void memory(void) {
	unsigned v[16], back[16] = {0};
	CUdeviceptr more;
	CUgraphNode nodes[5];
	CUgraphNodeType type;
	size_t n = 5;
	for (int i = 0; i < 16; i++)
		v[i] = i;
	CHECK(cuMemAlloc(&more, 64));
	begin(s);
	CHECK(cuMemcpyHtoDAsync(words, v, sizeof v, s));
	CHECK(cuMemsetD32Async(words + 4, 77, 2, s));
	CHECK(cuMemsetD2D8Async(words + 16, 16, 1, 2, 2, s));
	CUDA_MEMCPY2D box;
	memset(&box, 0, sizeof box);
	box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	box.srcDevice = words;
	box.dstDevice = more;
	box.srcPitch = box.dstPitch = 16;
	box.WidthInBytes = 16;
	box.Height = 4;
	CHECK(cuMemcpy2DAsync(&box, s));
	CHECK(cuMemcpyDtoHAsync(back, more, sizeof back, s));
	CUgraph g = end(s);
	count(g, 5, 4);
	CHECK(cuGraphGetNodes(g, nodes, &n));
	for (int i = 0; i < 5; i++) {
		CHECK(cuGraphNodeGetType(nodes[i], &type));
		EQ(type, i == 1 || i == 2 ? CU_GRAPH_NODE_TYPE_MEMSET : CU_GRAPH_NODE_TYPE_MEMCPY);
	}
	CUDA_MEMCPY3D first;
	CHECK(cuGraphMemcpyNodeGetParams(nodes[0], &first));
	EQ(first.srcMemoryType, CU_MEMORYTYPE_HOST);
	TRUE(first.srcHost == v && first.dstDevice == words && first.WidthInBytes == sizeof v);

	// Host memory is read and written in each launch.
	CUgraphExec x;
	CHECK(cuGraphInstantiate(&x, g, 0));
	v[15] = 1000;
	CHECK(cuGraphLaunch(x, s));
	CHECK(cuStreamSynchronize(s));
	for (int i = 0; i < 16; i++)
		EQ(back[i], i == 1 || i == 2 ? 77 : i == 4 ? 0x0101 : i == 8 ? 0x0101 : i == 15 ? 1000 : i);
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));

	// Memory is allocated and freed by nodes, at one address in all launches.
	CUdeviceptr own, left;
	unsigned fetched = 0;
	begin(s);
	CHECK(cuMemAllocAsync(&own, 64, s));
	CHECK(cuMemsetD32Async(own, 9, 16, s));
	CHECK(cuMemcpyDtoHAsync(&fetched, own + 60, 4, s));
	CHECK(cuMemFreeAsync(own, s));
	CHECK(cuMemAllocAsync(&left, 64, s));
	g = end(s);
	count(g, 5, 4);
	n = 5;
	CHECK(cuGraphGetNodes(g, nodes, &n));
	CHECK(cuGraphNodeGetType(nodes[0], &type));
	EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	CHECK(cuGraphNodeGetType(nodes[3], &type));
	EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
	CHECK(cuGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 3; i++) {
		fetched = 0;
		CHECK(cuGraphLaunch(x, s));
		CHECK(cuStreamSynchronize(s));
		EQ(fetched, 9);
		CHECK(i % 2 ? cuMemFree(left) : cuMemFreeAsync(left, s));
	}
	CHECK(cuStreamSynchronize(s));
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));

	// All calls that may wait are prohibited in this mode, for any object.
	begin(s);
	EXPECT(cuMemAlloc(&more, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	invalid(s);
	begin(t);
	EXPECT(cuMemcpyDtoH(v, words, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	invalid(t);
	begin(s);
	EXPECT(cuMemcpyDtoH(v, words, 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	invalid(s);
	begin(s);
	EXPECT(cuMemFree(more), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	invalid(s);
	CHECK(cuMemFree(more));
	CHECK(cuMemsetD32(words, 0, 16));
}

static CUcontext context;
static CUresult answers[4];

static void *other_thread(void *arg) {
	CUgraph g;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
	(void)arg;
	CHECK(cuCtxSetCurrent(context));
	answers[0] = cuStreamQuery(u);
	CHECK(cuThreadExchangeStreamCaptureMode(&mode));
	EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	answers[1] = cuStreamQuery(u);
	answers[2] = cuStreamEndCapture(s, &g);
	return NULL;
}

static void ask_other_thread(CUresult first, CUresult second, CUresult third) {
	pthread_t thread;
	TRUE(pthread_create(&thread, NULL, other_thread, NULL) == 0);
	TRUE(pthread_join(thread, NULL) == 0);
	EQ(answers[0], first);
	EQ(answers[1], second);
	EQ(answers[2], third);
}

static void modes(void) {
	const CUresult no = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, wrong = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	// In this thread: prohibited during a capture that this thread has begun, unless it is relaxed.
	for (int m = CU_STREAM_CAPTURE_MODE_GLOBAL; m <= CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; m++) {
		CHECK(cuStreamBeginCapture(s, m));
		EXPECT(cuStreamQuery(t), no);
		invalid(s);
	}
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CHECK(cuStreamQuery(t));
	status_is(s, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	CHECK(cuGraphDestroy(end(s)));
	begin(s);
	CHECK(cuThreadExchangeStreamCaptureMode(&mode));
	EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	CHECK(cuStreamQuery(t));
	CHECK(cuThreadExchangeStreamCaptureMode(&mode));
	EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	CHECK(cuGraphDestroy(end(s)));
	mode = 3;
	EXPECT(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);

	// In another thread: prohibited during a global capture of any thread, unless the thread's mode is relaxed.
	begin(s);
	ask_other_thread(no, CUDA_SUCCESS, wrong);
	invalid(s);
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	ask_other_thread(CUDA_SUCCESS, CUDA_SUCCESS, wrong);
	CHECK(cuGraphDestroy(end(s)));
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	ask_other_thread(CUDA_SUCCESS, CUDA_SUCCESS, CUDA_SUCCESS);
	status_is(s, CU_STREAM_CAPTURE_STATUS_NONE);
}

int main(void) {
	CUdevice device;
	CUmodule module;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&add, module, "add"));
	CHECK(cuMemAlloc(&words, 64));
	CHECK(cuMemcpyHtoD(words, (char[64]){0}, 64));
	CHECK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&u, CU_STREAM_DEFAULT));
	CHECK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	CHECK(cuEventCreate(&f, CU_EVENT_DEFAULT));
	forks_and_joins();
	external();
	set_of_dependencies();
	beginning_and_ending();
	memory();
	dependencies_that_cannot_be();
	waiting_for_nothing();
	modes();
	CHECK(cuCtxDestroy(context));
	return 0;
}
