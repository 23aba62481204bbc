// Conditional nodes: an if in a while, a switch, an else, updates of nodes in
// bodies, and errors. Requires a driver of CUDA 12.8.
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_60\n.address_size 64\n"
	".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
	// condition = *p & mask
	".visible .entry choose(.param .u64 condition, .param .u64 p, .param .u32 mask)\n"
	"{\n"
	"	.reg .b32 %r<4>; .reg .b64 %d<3>;\n"
	"	ld.param.u64 %d1, [condition]; ld.param.u64 %d2, [p]; ld.param.u32 %r1, [mask];\n"
	"	ld.global.u32 %r2, [%d2]; and.b32 %r3, %r2, %r1;\n"
	"	{\n"
	"	.param .b64 param0; st.param.b64 [param0+0], %d1;\n"
	"	.param .b32 param1; st.param.b32 [param1+0], %r3;\n"
	"	call.uni cudaGraphSetConditional, (param0, param1);\n"
	"	}\n"
	"	ret;\n"
	"}\n"
	// *p += by
	".visible .entry add(.param .u64 p, .param .u32 by)\n"
	"{\n"
	"	.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
	"	ld.param.u64 %d1, [p]; ld.param.u32 %r1, [by];\n"
	"	ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1; st.global.u32 [%d1], %r2;\n"
	"	ret;\n"
	"}\n";

static CUcontext context;
static CUfunction choose, add;
static CUstream stream;

static CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction f, void **args) {
	return (CUDA_KERNEL_NODE_PARAMS){.func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
}

static CUgraphNode kernel(CUgraph g, CUgraphNode after, CUfunction f, void **args) {
	CUgraphNode node;
	CUDA_KERNEL_NODE_PARAMS k = one_thread(f, args);
	CHECK(cuGraphAddKernelNode(&node, g, &after, after != NULL, &k));
	return node;
}

static CUgraphNode adds(CUgraph g, CUgraphNode after, CUdeviceptr p, int by) {
	return kernel(g, after, add, (void *[]){&p, &by});
}

static CUgraphNode chooses(CUgraph g, CUgraphNode after, CUgraphConditionalHandle c, CUdeviceptr p, uint32_t mask) {
	return kernel(g, after, choose, (void *[]){&c, &p, &mask});
}

static CUgraphConditionalHandle condition(CUgraph g, unsigned initial) {
	CUgraphConditionalHandle c;
	CHECK(cuGraphConditionalHandleCreate(&c, g, context, initial, CU_GRAPH_COND_ASSIGN_DEFAULT));
	return c;
}

static CUgraphNode conditional(CUgraph g, CUgraphNode after, CUgraphConditionalHandle c,
	CUgraphConditionalNodeType type, unsigned size, CUgraph *bodies) {
	CUgraphNode node;
	CUgraphNodeType is;
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = {.handle = c, .type = type, .size = size, .ctx = context}};
	CHECK(cuGraphAddNode(&node, g, &after, after != NULL, &p));
	memcpy(bodies, p.conditional.phGraph_out, size * sizeof *bodies);
	CHECK(cuGraphNodeGetType(node, &is));
	EQ(is, CU_GRAPH_NODE_TYPE_CONDITIONAL);
	return node;
}

static void set(CUdeviceptr p, uint32_t value) { CHECK(cuMemcpyHtoD(p, &value, 4)); }

static uint32_t get(CUdeviceptr p) {
	uint32_t value;
	CHECK(cuMemcpyDtoH(&value, p, 4));
	return value;
}

static CUgraphExec instantiate(CUgraph g) {
	CUgraphExec exec;
	CHECK(cuGraphInstantiateWithFlags(&exec, g, 0));
	return exec;
}

static void run(CUgraphExec exec) {
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuStreamSynchronize(stream));
}

// while (n != 0) { if (n & 1) odd++; n--; }
static CUgraph counting(CUdeviceptr n, CUdeviceptr odd, CUgraphNode *in_if, CUgraphNode *mask) {
	CUgraph g, body, inner;
	CHECK(cuGraphCreate(&g, 0));
	CUgraphConditionalHandle more = condition(g, 0), is_odd = condition(g, 0);
	CUgraphNode begin = chooses(g, NULL, more, n, ~0u);
	conditional(g, begin, more, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
	*mask = chooses(body, NULL, is_odd, n, 1);
	CUgraphNode decide = conditional(body, *mask, is_odd, CU_GRAPH_COND_TYPE_IF, 1, &inner);
	*in_if = adds(inner, NULL, odd, 1);
	CUgraphNode down = adds(body, decide, n, -1);
	chooses(body, down, more, n, ~0u);
	return g;
}

static void loops(CUdeviceptr n, CUdeviceptr odd) {
	CUgraphNode in_if, mask, other_if, other_mask;
	CUgraph g = counting(n, odd, &in_if, &mask);
	CUgraphExec exec = instantiate(g);
	for (uint32_t k = 0; k < 6; k++) {
		set(n, k);
		set(odd, 100);
		run(exec);
		EQ(get(n), 0);
		EQ(get(odd), 100 + (k + 1) / 2);
	}
	// A node in a body of a body is changed, for later launches only.
	int by = 10;
	CUDA_KERNEL_NODE_PARAMS k = one_thread(add, (void *[]){&odd, &by});
	set(n, 5);
	set(odd, 0);
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphExecKernelNodeSetParams(exec, in_if, &k));
	CHECK(cuStreamSynchronize(stream));
	EQ(get(odd), 3);
	set(n, 5);
	set(odd, 0);
	run(exec);
	EQ(get(odd), 30);
	// The instance is updated by another graph of the same shape, including its conditions.
	CUgraph like = counting(n, odd, &other_if, &other_mask);
	CUgraphExecUpdateResultInfo info;
	CHECK(cuGraphExecUpdate(exec, like, &info));
	EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	CHECK(cuGraphDestroy(g));
	set(n, 7);
	set(odd, 0);
	run(exec);
	EQ(get(odd), 4);
	CHECK(cuGraphDestroy(like)); // the instance lives on
	set(n, 7);
	run(exec);
	EQ(get(odd), 8);
	CHECK(cuGraphExecDestroy(exec));
}

// Each value selects the body of its number, if there is one.
static void selects(CUdeviceptr n, CUdeviceptr sum, CUgraphConditionalNodeType type, unsigned size) {
	CUgraph g, bodies[3];
	CHECK(cuGraphCreate(&g, 0));
	CUgraphConditionalHandle c = condition(g, 55);
	conditional(g, chooses(g, NULL, c, n, ~0u), c, type, size, bodies);
	for (unsigned i = 0; i < size; i++)
		adds(bodies[i], NULL, sum, 1 << i);
	CUgraphExec exec = instantiate(g);
	for (uint32_t value = 0; value < 5; value++) {
		uint32_t body = type == CU_GRAPH_COND_TYPE_SWITCH ? value : value == 0;
		set(n, value);
		set(sum, 0);
		run(exec);
		EQ(get(sum), body < size ? 1 << body : 0);
	}
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(g));
}

// Without a default, a launch begins with the last value of the previous launch.
static void keeps(CUdeviceptr n, CUdeviceptr sum) {
	CUgraph g, body;
	CUgraphConditionalHandle c;
	CHECK(cuGraphCreate(&g, 0));
	CHECK(cuGraphConditionalHandleCreate(&c, g, context, 0, 0));
	CUgraphNode decide = conditional(g, NULL, c, CU_GRAPH_COND_TYPE_IF, 1, &body);
	adds(body, NULL, sum, 1);
	chooses(g, decide, c, n, ~0u);
	CUgraphExec exec = instantiate(g);
	set(n, 0);
	run(exec); // now the condition is 0
	set(sum, 0);
	set(n, 1);
	run(exec);
	EQ(get(sum), 0);
	run(exec);
	EQ(get(sum), 1);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(g));
}

static void ignore(void *data) { (void)data; }

static void refusals(CUdeviceptr n) {
	CUgraph g, other, body, copy;
	CUgraphExec exec;
	CUgraphNode node;
	CUgraphConditionalHandle c;
	CHECK(cuGraphCreate(&g, 0));
	CHECK(cuGraphCreate(&other, 0));
	EXPECT(cuGraphConditionalHandleCreate(&c, g, context, 0, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphConditionalHandleCreate(NULL, g, context, 0, 0), CUDA_ERROR_INVALID_VALUE);
	c = condition(g, 0);
	EXPECT(cuGraphInstantiateWithFlags(&exec, g, 0), CUDA_ERROR_INVALID_VALUE); // nothing reads it
	const struct {
		CUgraphConditionalNodeType type;
		unsigned size;
	} bad[] = {{CU_GRAPH_COND_TYPE_IF, 0}, {CU_GRAPH_COND_TYPE_IF, 3}, {CU_GRAPH_COND_TYPE_WHILE, 2}, {CU_GRAPH_COND_TYPE_SWITCH, 0}, {7, 1}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
			.conditional = {.handle = c, .type = bad[i].type, .size = bad[i].size, .ctx = context}};
		EXPECT(cuGraphAddNode(&node, g, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
	}
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = {.handle = c, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = context}};
	EXPECT(cuGraphAddNode(&node, other, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE); // of another graph
	conditional(g, NULL, c, CU_GRAPH_COND_TYPE_IF, 1, &body);
	EXPECT(cuGraphClone(&copy, g), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddChildGraphNode(&node, other, NULL, 0, g), CUDA_ERROR_INVALID_VALUE);
	CUDA_HOST_NODE_PARAMS host = {.fn = ignore};
	TRUE(cuGraphAddHostNode(&node, body, NULL, 0, &host) != CUDA_SUCCESS);
	adds(body, NULL, n, 1);
	TRUE(cuGraphInstantiateWithFlags(&exec, body, 0) != CUDA_SUCCESS);
	CHECK(cuGraphDestroy(other));
	CHECK(cuGraphDestroy(g));
}

int main(void) {
	context = open_device();
	CUmodule module;
	CUdeviceptr n, sum;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&choose, module, "choose"));
	CHECK(cuModuleGetFunction(&add, module, "add"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&n, 4));
	CHECK(cuMemAlloc(&sum, 4));
	loops(n, sum);
	selects(n, sum, CU_GRAPH_COND_TYPE_SWITCH, 3);
	selects(n, sum, CU_GRAPH_COND_TYPE_IF, 1);
	selects(n, sum, CU_GRAPH_COND_TYPE_IF, 2);
	keeps(n, sum);
	refusals(n);
	return 0;
}
