// Random graphs of one shape: an instance of one that is updated by another computes what a
// new instance of the other does, and so does one whose nodes are set one by one. Where the
// shapes differ the update is refused and changes nothing. Large graphs are quick.
#include "check.h"

#include <time.h>

enum { WORDS = 8, MOST = 24 };

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	// word[to] = word[to] * a + word[from] + b, of the whole array by one thread
	".visible .entry mix(.param .u64 words, .param .u32 to, .param .u32 from, .param .u32 a, .param .u32 b)\n"
	"{\n"
	"	.reg .b32 %r<7>; .reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [words]; ld.param.u32 %r1, [to]; ld.param.u32 %r2, [from]; ld.param.u32 %r3, [a]; ld.param.u32 %r4, [b];\n"
	"	mad.wide.u32 %d2, %r1, 4, %d1; mad.wide.u32 %d3, %r2, 4, %d1;\n"
	"	ld.global.u32 %r5, [%d2]; ld.global.u32 %r6, [%d3];\n"
	"	mad.lo.u32 %r5, %r5, %r3, %r4; add.u32 %r5, %r5, %r6; st.global.u32 [%d2], %r5; ret;\n"
	"}\n";

static CUcontext context;
static CUfunction mix;
static CUdeviceptr words;
static uint64_t state;

static uint32_t draw(uint32_t n) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

// A graph is drawn in two parts: its shape and what its nodes do.
struct shape {
	int count, kinds[MOST];
	unsigned deps[MOST]; // a bit for each node before
};

static struct shape draw_shape(void) {
	struct shape s = {.count = 2 + (int)draw(MOST - 2)};
	for (int i = 0; i < s.count; i++) {
		s.kinds[i] = (int)draw(4);
		for (int k = 0; k < i; k++) // a chain, so that nothing races, and more
			s.deps[i] |= (unsigned)(k + 1 == i || draw(4) == 0) << k;
	}
	return s;
}

static CUDA_KERNEL_NODE_PARAMS *kernel(void) {
	static uint32_t to, from, a, b;
	static void *args[] = {&words, &to, &from, &a, &b};
	static CUDA_KERNEL_NODE_PARAMS p;
	to = draw(WORDS);
	from = draw(WORDS);
	a = draw(100);
	b = draw(100);
	p = (CUDA_KERNEL_NODE_PARAMS){.func = mix, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	return &p;
}

static CUDA_MEMSET_NODE_PARAMS *fill(void) {
	static CUDA_MEMSET_NODE_PARAMS p;
	p = (CUDA_MEMSET_NODE_PARAMS){.dst = words + 4 * draw(WORDS), .value = draw(1000), .elementSize = 4, .width = 1, .height = 1};
	return &p;
}

static CUDA_MEMCPY3D *copy(void) {
	static CUDA_MEMCPY3D p;
	uint32_t to = draw(WORDS), from = (to + 1 + draw(WORDS - 1)) % WORDS;
	p = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = words + 4 * from,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = words + 4 * to, .WidthInBytes = 4, .Height = 1, .Depth = 1};
	return &p;
}

static CUgraph build(const struct shape *s, CUgraphNode *nodes) {
	CUgraph graph;
	CHECK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < s->count; i++) {
		CUgraphNode deps[MOST];
		size_t n = 0;
		for (int k = 0; k < i; k++)
			if (s->deps[i] >> k & 1)
				deps[n++] = nodes[k];
		switch (s->kinds[i]) {
		case 0:
			CHECK(cuGraphAddMemsetNode(&nodes[i], graph, deps, n, fill(), context));
			break;
		case 1:
			CHECK(cuGraphAddMemcpyNode(&nodes[i], graph, deps, n, copy(), context));
			break;
		default:
			CHECK(cuGraphAddKernelNode(&nodes[i], graph, deps, n, kernel()));
		}
	}
	return graph;
}

// set gives the nodes of an instance what build would have, one by one.
static void set(CUgraphExec exec, const struct shape *s, const CUgraphNode *nodes) {
	for (int i = 0; i < s->count; i++)
		switch (s->kinds[i]) {
		case 0:
			CHECK(cuGraphExecMemsetNodeSetParams(exec, nodes[i], fill(), context));
			break;
		case 1:
			CHECK(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], copy(), context));
			break;
		default:
			CHECK(cuGraphExecKernelNodeSetParams(exec, nodes[i], kernel()));
		}
}

static void run(CUgraphExec exec, uint32_t out[WORDS]) {
	CHECK(cuMemcpyHtoD(words, (uint32_t[WORDS]){1, 2, 3, 4, 5, 6, 7, 8}, 4 * WORDS));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuMemcpyDtoH(out, words, 4 * WORDS));
}

static void pairs(uint64_t seed) {
	CUgraphNode a[MOST], b[MOST], c[MOST];
	CUgraphExec first, second;
	CUgraphExecUpdateResultInfo info;
	uint32_t got[WORDS], want[WORDS];
	state = seed;
	struct shape s = draw_shape(), other = s;
	CUgraph one = build(&s, a);
	uint64_t params = state;
	CUgraph two = build(&s, b);
	CHECK(cuGraphInstantiate(&first, one, 0));
	CHECK(cuGraphInstantiate(&second, two, 0));
	run(second, want);
	CHECK(cuGraphExecUpdate(first, two, &info));
	run(first, got);
	TRUE(memcmp(got, want, sizeof got) == 0);
	CHECK(cuGraphExecUpdate(first, one, &info));
	state = params;
	set(first, &s, a);
	run(first, got);
	TRUE(memcmp(got, want, sizeof got) == 0);

	// One kind or one edge is another.
	int i = 1 + (int)draw((uint32_t)s.count - 1);
	if (draw(2) == 0 || i < 2)
		other.kinds[i] = other.kinds[i] < 2 ? 1 - other.kinds[i] : 0;
	else
		other.deps[i] ^= 1u << draw((uint32_t)i - 1);
	CUgraph three = build(&other, c);
	EXPECT(cuGraphExecUpdate(first, three, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED || info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	run(first, got);
	TRUE(memcmp(got, want, sizeof got) == 0);
	CHECK(cuGraphExecDestroy(first));
	CHECK(cuGraphExecDestroy(second));
	CHECK(cuGraphDestroy(one));
	CHECK(cuGraphDestroy(two));
	CHECK(cuGraphDestroy(three));
}

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// large is ten thousand nodes of which each follows two.
static void large(void) {
	enum { N = 10000 };
	static CUgraphNode nodes[N], listed[N];
	CUgraph graph, clone;
	CUgraphExec exec;
	CUgraphExecUpdateResultInfo info;
	size_t count = N;
	double start = seconds();
	CHECK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < N; i++)
		CHECK(cuGraphAddKernelNode(&nodes[i], graph, &nodes[i < 2 ? 0 : i - 2], i < 2 ? (size_t)i : 2, kernel()));
	CHECK(cuGraphGetNodes(graph, listed, &count));
	EQ(count, N);
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EQ(count, 2 * N - 3);
	CHECK(cuGraphClone(&clone, graph));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuGraphExecUpdate(exec, clone, &info));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(clone));
	for (int i = 0; i < N; i++)
		CHECK(cuGraphDestroyNode(nodes[i]));
	CHECK(cuGraphDestroy(graph));
	TRUE(seconds() - start < 3); // 0.4 s, and 6 s when setting a node was linear in their number
}

int main(void) {
	CUmodule module;
	context = open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuMemAlloc(&words, 4 * WORDS));
	for (uint64_t seed = 1; seed <= 200; seed++)
		pairs(seed);
	large();
	CHECK(cuMemFree(words));
	CHECK(cuModuleUnload(module));
	return 0;
}
