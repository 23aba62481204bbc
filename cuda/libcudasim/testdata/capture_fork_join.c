// Three kernels, y = x + x and z = x * k side by side, then s = s + y + z, are captured as
// a fork and a join, launched 100 times, with another k after 50.
#include "check.h"

static const char *const ptx =
	".version 7.0\n.target sm_60\n.address_size 64\n"
#define KERNEL(name, p3type, body) \
	".visible .entry " name "(.param .u64 a, .param .u64 b, .param " p3type " c, .param .u32 n) {\n" \
	".reg .pred p; .reg .b32 i, t, m, e; .reg .f32 u, v, w; .reg .b64 A, B, C, o;\n" \
	"mov.u32 i, %ctaid.x; mov.u32 m, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, m, t; ld.param.u32 e, [n];\n" \
	"setp.ge.u32 p, i, e; @p bra done; mul.wide.u32 o, i, 4;\n" \
	"ld.param.u64 A, [a]; cvta.to.global.u64 A, A; add.u64 A, A, o; ld.param.u64 B, [b]; cvta.to.global.u64 B, B; add.u64 B, B, o;\n" \
	"ld.global.f32 u, [A];\n" body "done: ret;\n}\n"
	KERNEL("twice", ".f32", "add.f32 v, u, u; st.global.f32 [B], v;\n")
	KERNEL("scale", ".f32", "ld.param.f32 w, [c]; mul.f32 v, u, w; st.global.f32 [B], v;\n")
	KERNEL("gather", ".u64", "ld.param.u64 C, [c]; cvta.to.global.u64 C, C; add.u64 C, C, o; ld.global.f32 v, [B]; add.f32 u, u, v; ld.global.f32 v, [C]; add.f32 v, v, u; st.global.f32 [C], v;\n");

enum { N = 100000, BLOCK = 256 };

int main(void) {
	static float x[N], s[N];
	CUdeviceptr dx, dy, dz, ds;
	CUmodule module;
	CUfunction twice, scale, gather;
	CUstream left, right;
	CUevent fork, join;
	CUgraph graph;
	CUgraphExec exec;
	open_device();
	for (int i = 0; i < N; i++)
		x[i] = i % 17;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&twice, module, "twice"));
	CHECK(cuModuleGetFunction(&scale, module, "scale"));
	CHECK(cuModuleGetFunction(&gather, module, "gather"));
	CHECK(cuMemAlloc(&dx, sizeof x)), CHECK(cuMemAlloc(&dy, sizeof x)), CHECK(cuMemAlloc(&dz, sizeof x)), CHECK(cuMemAlloc(&ds, sizeof x));
	CHECK(cuMemcpyHtoD(dx, x, sizeof x));
	CHECK(cuMemsetD32(ds, 0, N));
	CHECK(cuStreamCreate(&left, CU_STREAM_NON_BLOCKING)), CHECK(cuStreamCreate(&right, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING)), CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));

	unsigned n = N, blocks = (N + BLOCK - 1) / BLOCK;
	float k = 3;
	void *to_y[] = {&dx, &dy, &k, &n}, *to_z[] = {&dx, &dz, &k, &n}, *to_s[] = {&dy, &dz, &ds, &n};
	CHECK(cuStreamBeginCapture(left, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(cuEventRecord(fork, left)), CHECK(cuStreamWaitEvent(right, fork, 0));
	CHECK(cuLaunchKernel(twice, blocks, 1, 1, BLOCK, 1, 1, 0, left, to_y, NULL));
	CHECK(cuLaunchKernel(scale, blocks, 1, 1, BLOCK, 1, 1, 0, right, to_z, NULL));
	CHECK(cuEventRecord(join, right)), CHECK(cuStreamWaitEvent(left, join, 0));
	CHECK(cuLaunchKernel(gather, blocks, 1, 1, BLOCK, 1, 1, 0, left, to_s, NULL));
	CHECK(cuStreamEndCapture(left, &graph));

	CUgraphNode nodes[8];
	size_t count = 8, edges = 0;
	CHECK(cuGraphGetNodes(graph, nodes, &count)), EQ(count, 3);
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &edges)), EQ(edges, 2);
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 100; i++) {
		if (i == 50) { // the node of scale is the one whose function it is
			CUDA_KERNEL_NODE_PARAMS p;
			for (size_t j = 0; j < count; j++)
				if (CHECK(cuGraphKernelNodeGetParams(nodes[j], &p)), p.func == scale)
					k = 5, p.kernelParams = to_z, CHECK(cuGraphExecKernelNodeSetParams(exec, nodes[j], &p));
		}
		CHECK(cuGraphLaunch(exec, left));
	}
	CHECK(cuStreamSynchronize(left));
	CHECK(cuMemcpyDtoH(s, ds, sizeof s));
	for (int i = 0; i < N; i++) // 50 times 2x + 3x, 50 times 2x + 5x
		if (s[i] != 600 * x[i])
			check_fail(__FILE__, __LINE__, "s[%d] is %g, want %g", i, s[i], 600 * x[i]);
	CHECK(cuGraphExecDestroy(exec)), CHECK(cuGraphDestroy(graph));
	return 0;
}
