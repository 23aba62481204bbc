// Conjugate gradients as one graph: a loop on the device that ends when the residual
// is small. Requires a driver of CUDA 12.4.
#include "check.h"

// One block solves the one-dimensional Poisson problem; r, p, q and x are of N doubles.
enum { N = 64 };

static const char ptx[] =
	".version 7.0\n.target sm_60\n.address_size 64\n"
	".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
	".shared .align 8 .f64 part[64];\n"
	// q = A p; alpha = rr / p.q; x += alpha p; r -= alpha q
	".visible .entry step(.param .u64 x, .param .u64 r, .param .u64 p, .param .u64 q, .param .u64 rr)\n"
	"{\n"
	"	.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<12>; .reg .f64 %f<16>;\n"
	"	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [r]; ld.param.u64 %d3, [p]; ld.param.u64 %d4, [q]; ld.param.u64 %d5, [rr];\n"
	"	mov.u32 %r1, %tid.x; mul.wide.u32 %d6, %r1, 8;\n"
	"	add.u64 %d1, %d1, %d6; add.u64 %d2, %d2, %d6; add.u64 %d3, %d3, %d6; add.u64 %d4, %d4, %d6;\n"
	"	mov.f64 %f3, 0d0000000000000000; mov.f64 %f4, %f3;\n"
	"	setp.eq.u32 %p1, %r1, 0; @%p1 bra first; ld.global.f64 %f3, [%d3+-8]; first:\n"
	"	setp.eq.u32 %p2, %r1, 63; @%p2 bra last; ld.global.f64 %f4, [%d3+8]; last:\n"
	"	ld.global.f64 %f5, [%d3]; add.f64 %f6, %f5, %f5; sub.f64 %f6, %f6, %f3; sub.f64 %f6, %f6, %f4;\n"
	"	st.global.f64 [%d4], %f6;\n"
	"	mul.f64 %f1, %f5, %f6;\n"
	"	mov.u32 %r2, part; shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; st.shared.f64 [%r3], %f1; bar.sync 0;\n"
	"	mov.u32 %r4, 0; mov.f64 %f2, 0d0000000000000000;\n"
	"sum: shl.b32 %r5, %r4, 3; add.u32 %r5, %r2, %r5; ld.shared.f64 %f7, [%r5]; add.f64 %f2, %f2, %f7;\n"
	"	add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 64; @%p3 bra sum;\n"
	"	ld.global.f64 %f8, [%d5]; div.rn.f64 %f8, %f8, %f2;\n"
	"	ld.global.f64 %f9, [%d1]; fma.rn.f64 %f9, %f8, %f5, %f9; st.global.f64 [%d1], %f9;\n"
	"	neg.f64 %f8, %f8; ld.global.f64 %f10, [%d2]; fma.rn.f64 %f10, %f8, %f6, %f10; st.global.f64 [%d2], %f10;\n"
	"	ret;\n"
	"}\n"
	// beta = r.r / rr; rr = r.r; p = r + beta p; go on while rr > limit
	".visible .entry direct(.param .u64 r, .param .u64 p, .param .u64 rr, .param .f64 limit, .param .u64 count, .param .u64 condition)\n"
	"{\n"
	"	.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<12>; .reg .f64 %f<16>;\n"
	"	ld.param.u64 %d1, [r]; ld.param.u64 %d2, [p]; ld.param.u64 %d3, [rr]; ld.param.f64 %f9, [limit];\n"
	"	ld.param.u64 %d4, [count]; ld.param.u64 %d5, [condition];\n"
	"	mov.u32 %r1, %tid.x; mul.wide.u32 %d6, %r1, 8; add.u64 %d1, %d1, %d6; add.u64 %d2, %d2, %d6;\n"
	"	ld.global.f64 %f3, [%d1]; mul.f64 %f1, %f3, %f3;\n"
	"	mov.u32 %r2, part; shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; st.shared.f64 [%r3], %f1;\n"
	"	ld.global.f64 %f4, [%d3]; bar.sync 0;\n"
	"	mov.u32 %r4, 0; mov.f64 %f2, 0d0000000000000000;\n"
	"sum: shl.b32 %r5, %r4, 3; add.u32 %r5, %r2, %r5; ld.shared.f64 %f7, [%r5]; add.f64 %f2, %f2, %f7;\n"
	"	add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 64; @%p3 bra sum;\n"
	"	div.rn.f64 %f5, %f2, %f4; ld.global.f64 %f6, [%d2]; fma.rn.f64 %f6, %f5, %f6, %f3; st.global.f64 [%d2], %f6;\n"
	"	setp.ne.u32 %p1, %r1, 0; @%p1 bra done;\n"
	"	st.global.f64 [%d3], %f2; ld.global.u32 %r6, [%d4]; add.u32 %r6, %r6, 1; st.global.u32 [%d4], %r6;\n"
	"	setp.gt.f64 %p2, %f2, %f9; selp.u32 %r7, 1, 0, %p2;\n"
	"	{\n"
	"	.param .b64 param0; st.param.b64 [param0+0], %d5;\n"
	"	.param .b32 param1; st.param.b32 [param1+0], %r7;\n"
	"	call.uni cudaGraphSetConditional, (param0, param1);\n"
	"	}\n"
	"done: ret;\n"
	"}\n";

// cg does the same on the host, with the same order of additions. It returns the number of
// iterations.
static int cg(double *x, double limit) {
	double r[N], p[N], q[N], rr = 0;
	int count = 0;
	for (int i = 0; i < N; i++) {
		x[i] = 0;
		r[i] = p[i] = 1 + i % 3;
		rr += r[i] * r[i];
	}
	do {
		double pq = 0, next = 0;
		for (int i = 0; i < N; i++) {
			q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < N - 1 ? p[i + 1] : 0);
			pq += p[i] * q[i];
		}
		for (int i = 0; i < N; i++) {
			x[i] = fma(rr / pq, p[i], x[i]);
			r[i] = fma(-(rr / pq), q[i], r[i]);
		}
		for (int i = 0; i < N; i++)
			next += r[i] * r[i];
		for (int i = 0; i < N; i++)
			p[i] = fma(next / rr, p[i], r[i]);
		rr = next;
		count++;
	} while (rr > limit);
	return count;
}

static CUgraphNode kernel_after(CUgraph g, CUgraphNode *after, CUfunction f, void **args) {
	CUgraphNode node;
	CUDA_KERNEL_NODE_PARAMS k = {.func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = N, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	CHECK(cuGraphAddKernelNode(&node, g, after, after != NULL, &k));
	return node;
}

int main(void) {
	CUcontext context = open_device();
	CUmodule module;
	CUfunction step, direct;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&step, module, "step"));
	CHECK(cuModuleGetFunction(&direct, module, "direct"));
	CUdeviceptr x, r, p, q, rr, count;
	CHECK(cuMemAlloc(&x, 8 * N));
	CHECK(cuMemAlloc(&r, 8 * N));
	CHECK(cuMemAlloc(&p, 8 * N));
	CHECK(cuMemAlloc(&q, 8 * N));
	CHECK(cuMemAlloc(&rr, 8));
	CHECK(cuMemAlloc(&count, 4));

	CUgraph graph;
	CUgraphConditionalHandle more;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphConditionalHandleCreate(&more, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	CUgraphNodeParams loop = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = {.handle = more, .type = CU_GRAPH_COND_TYPE_WHILE, .size = 1, .ctx = context}};
	CUgraphNode node;
	CHECK(cuGraphAddNode(&node, graph, NULL, 0, &loop));
	TRUE(loop.conditional.phGraph_out != NULL);
	CUgraph body = loop.conditional.phGraph_out[0];
	double limit = 1e-20;
	CUgraphNode first = kernel_after(body, NULL, step, (void *[]){&x, &r, &p, &q, &rr});
	kernel_after(body, &first, direct, (void *[]){&r, &p, &rr, &limit, &count, &more});

	CUgraphExec exec;
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CUstream stream;
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int run = 0; run < 2; run++) {
		double b[N], want[N], have[N], norm = 0;
		uint32_t zero = 0, iterations;
		int host = cg(want, limit);
		for (int i = 0; i < N; i++) {
			b[i] = 1 + i % 3;
			norm += b[i] * b[i];
		}
		memset(have, 0, sizeof have);
		CHECK(cuMemcpyHtoD(x, have, sizeof have));
		CHECK(cuMemcpyHtoD(r, b, sizeof b));
		CHECK(cuMemcpyHtoD(p, b, sizeof b));
		CHECK(cuMemcpyHtoD(rr, &norm, 8));
		CHECK(cuMemcpyHtoD(count, &zero, 4));
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuStreamSynchronize(stream));
		CHECK(cuMemcpyDtoH(&iterations, count, 4));
		CHECK(cuMemcpyDtoH(have, x, sizeof have));
		TRUE(iterations > 10);
		TRUE(abs((int)iterations - host) <= 2); // the compiler may contract what the kernels do not
		for (int i = 0; i < N; i++)
			TRUE(fabs(have[i] - want[i]) <= 1e-7 * fabs(want[i]));
	}
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuStreamDestroy(stream));
	return 0;
}
