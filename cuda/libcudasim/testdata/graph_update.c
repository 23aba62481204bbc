// Changes of an instance: of single nodes, by another graph of the same shape, and
// by disabling nodes. A refused change has no effect.
// also with the per-thread default stream
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry put(.param .u64 at, .param .u32 value)\n"
	"{ .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
	"	ld.param.u64 %d1, [at]; ld.param.u32 %r1, [value]; st.global.u32 [%d1], %r1; ret; }\n"
	".visible .entry add(.param .u64 at, .param .u32 value)\n"
	"{ .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
	"	ld.param.u64 %d1, [at]; ld.param.u32 %r1, [value]; ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1; st.global.u32 [%d1], %r2; ret; }\n";

static CUfunction put, add;
static CUcontext context;
static CUdeviceptr word, other;

static void set(int *flag) { *flag = 1; }

// A kernel of one thread with (at, value).
static CUDA_KERNEL_NODE_PARAMS *kernel(CUfunction f, CUdeviceptr at, uint32_t value) {
	static CUDA_KERNEL_NODE_PARAMS p;
	static CUdeviceptr a;
	static uint32_t v;
	static void *args[] = {&a, &v};
	a = at;
	v = value;
	p = (CUDA_KERNEL_NODE_PARAMS){.func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	return &p;
}

static CUDA_MEMSET_NODE_PARAMS *fill(CUdeviceptr at, uint32_t value, size_t width, size_t height) {
	static CUDA_MEMSET_NODE_PARAMS p;
	p = (CUDA_MEMSET_NODE_PARAMS){.dst = at, .value = value, .elementSize = 4, .width = width, .height = height, .pitch = 512};
	return &p;
}

static CUDA_MEMCPY3D *copy(CUdeviceptr to, CUdeviceptr from) {
	static CUDA_MEMCPY3D p;
	p = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to,
		.WidthInBytes = 4, .Height = 1, .Depth = 1};
	return &p;
}

static uint32_t run(CUgraphExec exec, CUdeviceptr at) {
	uint32_t v;
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuMemcpyDtoH(&v, at, 4));
	return v;
}

// update expects a reason, and the node that it is about.
static void update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult why, CUgraphNode node) {
	CUgraphExecUpdateResultInfo info;
	EXPECT(cuGraphExecUpdate(exec, graph, &info), why == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQ(info.result, why);
	TRUE(info.errorNode == node);
}

static void node_by_node(void) {
	CUgraph graph;
	CUgraphNode n[4];
	CUgraphExec exec;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddMemsetNode(&n[0], graph, NULL, 0, fill(word, 10, 1, 1), context));
	CHECK(cuGraphAddKernelNode(&n[1], graph, &n[0], 1, kernel(add, word, 1)));
	CHECK(cuGraphAddMemcpyNode(&n[2], graph, &n[1], 1, copy(other, word), context));
	int called = 0;
	CUDA_HOST_NODE_PARAMS host = {.fn = (CUhostFn)set, .userData = &called};
	CHECK(cuGraphAddHostNode(&n[3], graph, &n[2], 1, &host));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	EQ(run(exec, other), 11);
	EQ(called, 1);

	// Launches that are enqueued keep what they had.
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuGraphExecKernelNodeSetParams(exec, n[1], kernel(add, word, 2)));
	uint32_t v;
	CHECK(cuMemcpyDtoH(&v, other, 4));
	EQ(v, 11);
	EQ(run(exec, other), 12);
	CHECK(cuGraphExecKernelNodeSetParams(exec, n[1], kernel(put, word, 5))); // another function
	EQ(run(exec, other), 5);
	CHECK(cuGraphExecKernelNodeSetParams(exec, n[1], kernel(add, word, 1)));
	CHECK(cuGraphExecMemsetNodeSetParams(exec, n[0], fill(word, 20, 1, 1), context));
	EQ(run(exec, other), 21);
	CHECK(cuGraphExecMemcpyNodeSetParams(exec, n[2], copy(other + 4, word), context));
	CHECK(cuGraphExecMemsetNodeSetParams(exec, n[0], fill(word, 30, 1, 1), context));
	EQ(run(exec, other), 21);
	EQ(run(exec, other + 4), 31);
	int instead = 0;
	host.userData = &instead;
	called = 0;
	CHECK(cuGraphExecHostNodeSetParams(exec, n[3], &host));
	run(exec, other);
	EQ(called, 0);
	EQ(instead, 1);

	// The graph itself is unchanged.
	CUgraphExec again;
	CHECK(cuGraphInstantiate(&again, graph, 0));
	EQ(run(again, other), 11);
	CHECK(cuGraphExecDestroy(again));

	// Disabled nodes still order their predecessors and successors.
	unsigned on;
	CHECK(cuGraphNodeGetEnabled(exec, n[1], &on));
	EQ(on, 1);
	CHECK(cuGraphNodeSetEnabled(exec, n[1], 0));
	CHECK(cuGraphNodeGetEnabled(exec, n[1], &on));
	EQ(on, 0);
	EQ(run(exec, other + 4), 30);
	CHECK(cuGraphExecKernelNodeSetParams(exec, n[1], kernel(add, word, 7)));
	EQ(run(exec, other + 4), 30);
	CHECK(cuGraphNodeSetEnabled(exec, n[1], 1));
	EQ(run(exec, other + 4), 37);
	EXPECT(cuGraphNodeSetEnabled(exec, n[3], 0), CUDA_ERROR_INVALID_VALUE);

	// What cannot be.
	EXPECT(cuGraphExecKernelNodeSetParams(exec, n[0], kernel(add, word, 1)), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphExecMemsetNodeSetParams(exec, n[0], fill(word, 1, 0, 1), context), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphDestroyNode(n[3]));
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, n[3], copy(other, word), context), CUDA_ERROR_INVALID_VALUE);
	EQ(run(exec, other + 4), 37);
	EQ(instead, 1);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
}

// build builds a graph: clear, then two adds, then a copy. The nodes are added in the given order.
static CUgraph build(CUgraphNode n[4], uint32_t start, uint32_t a, uint32_t b) {
	CUgraph graph;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddMemsetNode(&n[0], graph, NULL, 0, fill(word, start, 1, 1), context));
	CHECK(cuGraphAddKernelNode(&n[1], graph, &n[0], 1, kernel(add, word, a)));
	CHECK(cuGraphAddKernelNode(&n[2], graph, &n[1], 1, kernel(add, word, b)));
	CHECK(cuGraphAddMemcpyNode(&n[3], graph, &n[2], 1, copy(other, word), context));
	return graph;
}

static void all_at_once(void) {
	CUgraphNode n[4], m[4], extra, empty;
	CUgraph graph = build(n, 1, 10, 100), next;
	CUgraphExec exec;
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	EQ(run(exec, other), 111);
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	next = build(m, 2, 20, 200);
	update(exec, next, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	EQ(run(exec, other), 222);

	// Nodes of the first graph still identify the nodes of the instance.
	CHECK(cuGraphExecKernelNodeSetParams(exec, n[1], kernel(add, word, 30)));
	EQ(run(exec, other), 232);
	EXPECT(cuGraphExecKernelNodeSetParams(exec, m[1], kernel(add, word, 30)), CUDA_ERROR_INVALID_VALUE);

	CHECK(cuGraphAddEmptyNode(&extra, next, &m[3], 1)); // one more
	update(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL);
	CHECK(cuGraphDestroyNode(m[3])); // as many, of another type
	CHECK(cuGraphAddDependencies(next, &m[2], &extra, 1));
	update(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, extra);
	CHECK(cuGraphDestroyNode(extra));
	CHECK(cuGraphAddMemcpyNode(&m[3], next, &m[2], 1, copy(other, word), context));
	update(exec, next, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	CHECK(cuGraphAddDependencies(next, &m[0], &m[2], 1)); // one more edge
	update(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, m[2]);
	CHECK(cuGraphRemoveDependencies(next, &m[0], &m[2], 1));
	update(exec, next, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	EQ(run(exec, other), 222);

	// A memset of several rows keeps its extent.
	CHECK(cuGraphDestroy(next));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphMemsetNodeSetParams(n[0], fill(word, 1, 1, 2)));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuGraphMemsetNodeSetParams(n[0], fill(word, 5, 1, 2)));
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	EQ(run(exec, other), 115);
	CHECK(cuGraphMemsetNodeSetParams(n[0], fill(word, 6, 1, 3)));
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, n[0]);
	EQ(run(exec, other), 115);

	// A kernel stays cooperative, or not.
	CHECK(cuGraphMemsetNodeSetParams(n[0], fill(word, 5, 1, 2)));
	CUkernelNodeAttrValue attribute = {.cooperative = 1};
	CHECK(cuGraphKernelNodeSetAttribute(n[1], CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &attribute));
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, n[1]);
	CHECK(cuGraphKernelNodeCopyAttributes(n[2], n[1]));
	memset(&attribute, 0, sizeof attribute);
	CHECK(cuGraphKernelNodeGetAttribute(n[2], CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &attribute));
	EQ(attribute.cooperative, 1);
	attribute.cooperative = 0;
	CHECK(cuGraphKernelNodeSetAttribute(n[1], CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &attribute));
	CHECK(cuGraphKernelNodeCopyAttributes(n[2], n[1]));
	CHECK(cuGraphExecDestroy(exec));

	// Priorities count if the instance was made to take them.
	CHECK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	cuuint64_t flags;
	CHECK(cuGraphExecGetFlags(exec, &flags));
	EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
	attribute.priority = -3;
	CHECK(cuGraphKernelNodeSetAttribute(n[2], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &attribute));
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, n[2]);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	attribute.priority = -4;
	CHECK(cuGraphKernelNodeSetAttribute(n[2], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &attribute));
	update(exec, graph, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);

	// Nodes pair by how they are reached from the end, not by when they were added.
	CUgraph shuffled;
	CHECK(cuGraphCreate(&shuffled, 0));
	CHECK(cuGraphAddMemcpyNode(&m[3], shuffled, NULL, 0, copy(other, word), context));
	CHECK(cuGraphAddKernelNode(&m[2], shuffled, NULL, 0, kernel(add, word, 6)));
	CHECK(cuGraphAddKernelNode(&m[1], shuffled, NULL, 0, kernel(add, word, 70)));
	CHECK(cuGraphAddMemsetNode(&m[0], shuffled, NULL, 0, fill(word, 800, 1, 2), context));
	CHECK(cuGraphAddDependencies(shuffled, m, m + 1, 3));
	update(exec, shuffled, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	EQ(run(exec, other), 876);
	CHECK(cuGraphAddEmptyNode(&empty, shuffled, NULL, 0));
	CHECK(cuGraphDestroyNode(m[0]));
	update(exec, shuffled, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, empty); // a sink too many
	CHECK(cuGraphDestroy(shuffled));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphExecDestroy(exec));
}

static void children(void) {
	CUgraphNode inner[4], node, before, after;
	CUgraph child = build(inner, 1, 2, 4), graph, held;
	CUgraphExec exec;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddKernelNode(&before, graph, NULL, 0, kernel(put, word, 1000)));
	CHECK(cuGraphAddChildGraphNode(&node, graph, &before, 1, child));
	CHECK(cuGraphAddKernelNode(&after, graph, &node, 1, kernel(add, other, 5)));

	// The node has a copy, which can be edited through it.
	CHECK(cuGraphDestroyNode(inner[0]));
	CHECK(cuGraphChildGraphNodeGetGraph(node, &held));
	TRUE(held != child);
	size_t count = 4;
	CUgraphNode copies[4];
	CHECK(cuGraphGetNodes(held, copies, &count));
	EQ(count, 4);
	EXPECT(cuGraphNodeFindInClone(&node, inner[1], child), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphKernelNodeSetParams(copies[1], kernel(add, word, 30)));
	EXPECT(cuGraphDestroy(held), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	EQ(run(exec, other), 1 + 30 + 4 + 5);
	EQ(run(exec, word), 1 + 30 + 4);

	CUgraph next = build(inner, 500, 20, 3), wrong;
	CHECK(cuGraphExecChildGraphNodeSetParams(exec, node, next));
	EQ(run(exec, other), 528);
	CHECK(cuGraphCreate(&wrong, 0));
	EXPECT(cuGraphExecChildGraphNodeSetParams(exec, node, wrong), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecKernelNodeSetParams(exec, copies[2], kernel(add, word, 7))); // a node inside
	EQ(run(exec, other), 532);

	// Clones go all the way down.
	CUgraph clone, cloned;
	CUgraphNode twin;
	CHECK(cuGraphClone(&clone, graph));
	CHECK(cuGraphNodeFindInClone(&twin, node, clone));
	TRUE(twin != node);
	CHECK(cuGraphChildGraphNodeGetGraph(twin, &cloned));
	TRUE(cloned != held);
	update(exec, clone, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL);
	EQ(run(exec, other), 1 + 30 + 4 + 5);
	CHECK(cuGraphDestroyNode(twin));
	EXPECT(cuGraphNodeFindInClone(&twin, node, clone), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphGetNodes(cloned, NULL, &count), CUDA_ERROR_INVALID_VALUE);

	// An empty child only orders.
	CHECK(cuGraphAddChildGraphNode(&twin, graph, (CUgraphNode[]){node, after}, 2, wrong));
	CHECK(cuGraphAddKernelNode(&before, graph, &twin, 1, kernel(add, other, 10000)));
	CUgraphExec more;
	CHECK(cuGraphInstantiate(&more, graph, 0));
	EQ(run(more, other), 10000 + 1 + 30 + 4 + 5);
	CHECK(cuGraphExecDestroy(more));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(child));
	CHECK(cuGraphDestroy(next));
	CHECK(cuGraphDestroy(wrong));
	CHECK(cuGraphDestroy(clone));
	CHECK(cuGraphDestroy(graph));
}

int main(void) {
	CUmodule module;
	context = open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&put, module, "put"));
	CHECK(cuModuleGetFunction(&add, module, "add"));
	CHECK(cuMemAlloc(&word, 4096));
	CHECK(cuMemAlloc(&other, 64));
	node_by_node();
	all_at_once();
	children();
	CHECK(cuMemFree(word));
	CHECK(cuMemFree(other));
	CHECK(cuModuleUnload(module));
	return 0;
}
