// env: REPRISE_SIM=h200,h200
// A graph may be launched into a stream of any context, and its nodes may be of several.
#include "check.h"

#define N 16
#define BYTES (4 * N)

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	// p[0] becomes p[0] * 2 + 1, after some 100 us
	".visible .entry step(.param .u64 p) {\n"
	" .reg .b32 %r<2>; .reg .b64 %d; .reg .pred %t;\n"
	" ld.param.u64 %d, [p]; mov.u32 %r1, 20000;\n"
	"again: sub.u32 %r1, %r1, 1; setp.ne.u32 %t, %r1, 0; @%t bra again;\n"
	" ld.global.u32 %r0, [%d]; mad.lo.u32 %r0, %r0, 2, 1; st.global.u32 [%d], %r0; ret;\n}\n";

static CUcontext ctx[2];
static CUdeviceptr mem[2];
static CUfunction step[2];
static CUstream side[2];

static void at(int i) { CHECK(cuCtxSetCurrent(ctx[i])); }

static unsigned word(CUdeviceptr p) {
	unsigned v;
	CHECK(cuMemcpyDtoH(&v, p, 4));
	return v;
}

static void launch(int i, CUstream s) {
	void *args[] = {&mem[i]};
	CHECK(cuLaunchKernel(step[i], 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
}

static CUgraphNode fill(CUgraph g, CUgraphNode after, int i, unsigned value) {
	CUDA_MEMSET_NODE_PARAMS p = {.dst = mem[i], .value = value, .elementSize = 4, .width = N, .height = 1};
	CUgraphNode n;
	CHECK(cuGraphAddMemsetNode(&n, g, &after, after != NULL, &p, ctx[i]));
	return n;
}

static CUgraphNode kernel(CUgraph g, CUgraphNode after, int i) {
	void *args[] = {&mem[i]};
	CUDA_KERNEL_NODE_PARAMS p = {.func = step[i], .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	CUgraphNode n;
	CHECK(cuGraphAddKernelNode(&n, g, &after, after != NULL, &p));
	return n;
}

static CUgraphNode copy(CUgraph g, CUgraphNode after, int to, int from, int by) {
	CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = mem[from], .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = mem[to], .WidthInBytes = BYTES, .Height = 1, .Depth = 1};
	CUgraphNode n;
	CHECK(cuGraphAddMemcpyNode(&n, g, &after, after != NULL, &p, ctx[by]));
	return n;
}

static void settle(void) {
	for (int i = 0; i < 2; i++) {
		at(i);
		CHECK(cuMemsetD32(mem[i], 0, N));
		CHECK(cuCtxSynchronize());
	}
}

// A graph of the first context in streams of the second: it runs after the earlier work of the stream,
// and before the later work.
static void in_another_stream(void) {
	CUgraph g;
	CUgraphExec x;
	CUstream streams[2] = {NULL, side[1]};
	CHECK(cuGraphCreate(&g, 0));
	kernel(g, copy(g, NULL, 0, 1, 0), 0);
	at(0);
	CHECK(cuGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 2; i++) {
		settle();
		at(1);
		launch(1, streams[i]); // 1
		CHECK(cuGraphLaunch(x, streams[i])); // the other has 3
		CHECK(cuMemcpyDtoDAsync(mem[1], mem[0], BYTES, streams[i]));
		launch(1, streams[i]); // 7
		CHECK(cuGraphLaunch(x, streams[i])); // 15
		EXPECT(cuStreamQuery(streams[i]), CUDA_ERROR_NOT_READY);
		CHECK(cuStreamSynchronize(streams[i]));
		EQ(word(mem[1]), 7);
		EQ(word(mem[0]), 15);
	}
	at(1);
	CHECK(cuGraphUpload(x, NULL));
	CHECK(cuGraphUpload(x, side[0]));
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
}

// One graph of both GPUs: each edge holds, whatever the stream.
static void of_both(void) {
	CUgraph g;
	CUgraphExec x;
	CUgraphNode first, n;
	CUDA_MEMSET_NODE_PARAMS p = {.dst = mem[1], .value = 5, .elementSize = 4, .width = N, .height = 1};
	CHECK(cuGraphCreate(&g, 0));
	first = fill(g, NULL, 1, 3);
	n = copy(g, kernel(g, first, 1), 0, 1, 0); // 7
	n = copy(g, kernel(g, n, 0), 1, 0, 1); // 15
	kernel(g, n, 1); // 31
	CHECK(cuGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 4; i++) {
		settle();
		at(i % 2);
		CHECK(cuGraphLaunch(x, i < 2 ? side[i] : NULL));
		CHECK(cuStreamSynchronize(i < 2 ? side[i] : NULL));
		at(0);
		EQ(word(mem[0]), 15);
		EQ(word(mem[1]), 31);
	}
	CHECK(cuGraphExecMemsetNodeSetParams(x, first, &p, ctx[1])); // 5, 11, 23, 47
	EXPECT(cuGraphExecMemsetNodeSetParams(x, first, &p, ctx[0]), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphLaunch(x, side[0]));
	CHECK(cuGraphLaunch(x, side[1])); // launches of one instance do not overlap
	CHECK(cuStreamSynchronize(side[1]));
	EQ(word(mem[0]), 23);
	EQ(word(mem[1]), 47);
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
}

// A capture that goes from one GPU to the other and back.
static void captured(void) {
	CUevent there, back;
	CUgraph g;
	CUgraphExec x;
	size_t n = 0;
	settle();
	at(0);
	CHECK(cuEventCreate(&there, CU_EVENT_DISABLE_TIMING));
	at(1);
	CHECK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	at(0);
	CHECK(cuStreamBeginCapture(side[0], CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(0, side[0]);
	CHECK(cuEventRecord(there, side[0]));
	at(1);
	CHECK(cuStreamWaitEvent(side[1], there, 0));
	CHECK(cuMemcpyDtoDAsync(mem[1], mem[0], BYTES, side[1]));
	launch(1, side[1]);
	CHECK(cuEventRecord(back, side[1]));
	at(0);
	CHECK(cuStreamWaitEvent(side[0], back, 0));
	CHECK(cuMemcpyDtoDAsync(mem[0], mem[1], BYTES, side[0]));
	CHECK(cuStreamEndCapture(side[0], &g));
	CHECK(cuGraphGetNodes(g, NULL, &n));
	EQ(n, 4);
	CHECK(cuGraphInstantiate(&x, g, 0));
	for (unsigned want = 3, i = 0; i < 3; i++, want = 4 * want + 3) {
		CHECK(cuGraphLaunch(x, side[i % 2]));
		CHECK(cuStreamSynchronize(side[i % 2]));
		EQ(word(mem[0]), want);
		EQ(word(mem[1]), want);
	}
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
	CHECK(cuEventDestroy(there));
	CHECK(cuEventDestroy(back));
}

// A graph cannot be launched after the context of one of its nodes was destroyed.
static void destroyed(void) {
	CUcontext third;
	CUdeviceptr p;
	CUgraph g;
	CUgraphExec x;
	CUgraphNode n;
	CUDA_MEMSET_NODE_PARAMS of_third = {.value = 1, .elementSize = 4, .width = 1, .height = 1};
	CHECK(cuCtxCreate(&third, 0, 1));
	CHECK(cuMemAlloc(&p, 64));
	of_third.dst = p;
	CHECK(cuGraphCreate(&g, 0));
	n = fill(g, NULL, 0, 9);
	CHECK(cuGraphAddMemsetNode(&n, g, &n, 1, &of_third, third));
	CHECK(cuGraphInstantiate(&x, g, 0));
	CHECK(cuGraphLaunch(x, side[0]));
	CHECK(cuStreamSynchronize(side[0]));
	EQ(word(p), 1);
	CHECK(cuGraphLaunch(x, side[0]));
	CHECK(cuCtxDestroy(third)); // with work of it under way
	CHECK(cuStreamSynchronize(side[0]));
	at(0);
	EXPECT(cuGraphLaunch(x, side[0]), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
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
		CHECK(cuModuleGetFunction(&step[i], module, "step"));
		CHECK(cuStreamCreate(&side[i], CU_STREAM_NON_BLOCKING));
	}
	in_another_stream();
	of_both();
	captured();
	destroyed();
	return 0;
}
