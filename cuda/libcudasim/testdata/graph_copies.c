// Copies and fills of boxes as nodes: their results, the time at which host memory is read, and the permitted
// changes in an instance. Also nodes that wait for words of memory.
#include "check.h"

enum { W = 64, H = 6, D = 3, PITCH = 256, ROWS = 8 }; // a box, and the device memory it lies in

static CUcontext context;

// box describes a copy of the whole box between packed host memory and device memory, from
// column x, row y and slice z of that.
static CUDA_MEMCPY3D box(void *host, CUdeviceptr device, int up, size_t x, size_t y, size_t z) {
	CUDA_MEMCPY3D p = {.WidthInBytes = W, .Height = H, .Depth = D};
	if (up) {
		p.srcMemoryType = CU_MEMORYTYPE_HOST;
		p.srcHost = host;
		p.srcPitch = W;
		p.srcHeight = H;
		p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
		p.dstDevice = device;
		p.dstPitch = PITCH;
		p.dstHeight = ROWS;
		p.dstXInBytes = x;
		p.dstY = y;
		p.dstZ = z;
	} else {
		p.dstMemoryType = CU_MEMORYTYPE_HOST;
		p.dstHost = host;
		p.dstPitch = W;
		p.dstHeight = H;
		p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
		p.srcDevice = device;
		p.srcPitch = PITCH;
		p.srcHeight = ROWS;
		p.srcXInBytes = x;
		p.srcY = y;
		p.srcZ = z;
	}
	return p;
}

static void boxes(void) {
	static uint8_t in[D][H][W], out[D][H][W], all[D + 1][ROWS][PITCH];
	CUdeviceptr a, b;
	CUgraph graph;
	CUgraphNode up, clear, down;
	CUgraphExec exec;
	CHECK(cuMemAlloc(&a, sizeof all));
	CHECK(cuMemAlloc(&b, sizeof all));
	CHECK(cuMemsetD8(a, 0xee, sizeof all));
	CHECK(cuGraphCreate(&graph, 0));
	CUDA_MEMCPY3D p = box(in, a, 1, 5, 1, 1);
	CHECK(cuGraphAddMemcpyNode(&up, graph, NULL, 0, &p, context));
	// Two elements in each of four rows of the second slice.
	CUDA_MEMSET_NODE_PARAMS fill = {.dst = a + ROWS * PITCH + 2 * PITCH + 6, .pitch = PITCH, .value = 0x4321, .elementSize = 2, .width = 2, .height = 4};
	CHECK(cuGraphAddMemsetNode(&clear, graph, &up, 1, &fill, context));
	p = box(out, a, 0, 5, 1, 1);
	CHECK(cuGraphAddMemcpyNode(&down, graph, &clear, 1, &p, context));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < D * H * W; i++)
			((uint8_t *)in)[i] = (uint8_t)(i * 7 + round); // pageable memory is read when the node runs
		CHECK(cuGraphLaunch(exec, NULL));
		CHECK(cuCtxSynchronize());
		for (int z = 0; z < D; z++)
			for (int y = 0; y < H; y++)
				for (int x = 0; x < W; x++) {
					int filled = z == 0 && y >= 1 && y < 5 && x >= 1 && x < 5;
					EQ(out[z][y][x], filled ? (x % 2 ? 0x21 : 0x43) : in[z][y][x]);
				}
	}
	CHECK(cuMemcpyDtoH(all, a, sizeof all));
	for (int z = 0; z <= D; z++)
		for (int y = 0; y < ROWS; y++)
			for (int x = 0; x < PITCH; x++)
				if (z < 1 || y < 1 || y > H || x < 5 || x >= 5 + W)
					EQ(all[z][y][x], 0xee);
	CUDA_MEMCPY3D shown;
	CHECK(cuGraphMemcpyNodeGetParams(down, &shown));
	TRUE(shown.dstHost == out && shown.srcDevice == a && shown.srcXInBytes == 5 && shown.Depth == D);

	// The parameters of a single node can be changed only for rows. Boxes can be changed only by another graph.
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, up, &p, context), CUDA_ERROR_INVALID_VALUE);
	CUgraphExecUpdateResultInfo info;
	p = box(out, b, 0, 5, 1, 1);
	CHECK(cuMemsetD8(b, 0x77, sizeof all));
	CHECK(cuGraphMemcpyNodeSetParams(down, &p));
	CHECK(cuGraphExecUpdate(exec, graph, &info));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());
	EQ(out[1][2][3], 0x77);
	p = box(in, b, 1, 5, 1, 1); // from the host instead of to it
	CHECK(cuGraphMemcpyNodeSetParams(down, &p));
	EXPECT(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
	TRUE(info.errorNode == down);

	// Copies that exceed an allocation, or have no bytes.
	p = box(in, a, 1, 5, 1, 2);
	p.dstHeight = ROWS * 2;
	EXPECT(cuGraphMemcpyNodeSetParams(up, &p), CUDA_ERROR_INVALID_VALUE);
	p = box(in, a, 1, PITCH - W + 1, 1, 1);
	EXPECT(cuGraphMemcpyNodeSetParams(up, &p), CUDA_ERROR_INVALID_VALUE);
	fill.height = ROWS * (D + 1);
	EXPECT(cuGraphMemsetNodeSetParams(clear, &fill), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuMemFree(a));
	CHECK(cuMemFree(b));
}

// Rows between the host and the device, by addresses alone.
static void rows(void) {
	CUdeviceptr a;
	uint32_t *pinned;
	CUgraph graph;
	CUgraphNode up, down;
	CUgraphExec exec;
	CHECK(cuMemAlloc(&a, 64));
	CHECK(cuMemAllocHost((void **)&pinned, 64));
	CHECK(cuGraphCreate(&graph, 0));
	CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = (CUdeviceptr)(uintptr_t)pinned,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = a, .WidthInBytes = 4, .Height = 1, .Depth = 1};
	CHECK(cuGraphAddMemcpyNode(&up, graph, NULL, 0, &p, context));
	p.srcDevice = a;
	p.dstDevice = (CUdeviceptr)(uintptr_t)&pinned[1];
	CHECK(cuGraphAddMemcpyNode(&down, graph, &up, 1, &p, context));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	for (uint32_t i = 1; i < 5; i++) {
		pinned[0] = i;
		CHECK(cuGraphLaunch(exec, NULL));
		CHECK(cuCtxSynchronize());
		EQ(pinned[1], i);
	}
	p.dstDevice = (CUdeviceptr)(uintptr_t)&pinned[2];
	CHECK(cuGraphExecMemcpyNodeSetParams(exec, down, &p, context));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());
	EQ(pinned[2], 4);
	CUdeviceptr b; // memory of the same context takes the place of what was freed
	CHECK(cuMemAlloc(&b, 64));
	CHECK(cuMemFree(a));
	p.srcDevice = b;
	CHECK(cuGraphExecMemcpyNodeSetParams(exec, down, &p, context));
	p.dstDevice = b;
	p.srcDevice = (CUdeviceptr)(uintptr_t)pinned;
	CHECK(cuGraphExecMemcpyNodeSetParams(exec, up, &p, context));
	pinned[0] = 99;
	p.srcDevice = b;
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());
	EQ(pinned[2], 99);
	a = b;
	p.dstDevice = a + 8; // on the device instead of to the host
	EXPECT(cuGraphExecMemcpyNodeSetParams(exec, down, &p, context), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuMemFree(a));
	CHECK(cuMemFreeHost(pinned));
}

static void words(void) {
	CUdeviceptr word;
	CUgraph graph;
	CUgraphNode node;
	CUgraphExec exec;
	CHECK(cuMemAlloc(&word, 16));
	CHECK(cuMemsetD8(word, 0, 16));
	CUstreamBatchMemOpParams ops[2] = {
		{.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = word, .value = 0, .flags = CU_STREAM_WAIT_VALUE_EQ}},
		{.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = word + 4, .value = 17}},
	};
	CUDA_BATCH_MEM_OP_NODE_PARAMS p = {.ctx = context, .count = 2, .paramArray = ops}, shown;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
	ops[1].writeValue.value = 18; // the array was copied
	CHECK(cuGraphBatchMemOpNodeGetParams(node, &shown));
	EQ(shown.count, 2);
	EQ(shown.paramArray[1].writeValue.value, 17);
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuGraphLaunch(exec, NULL));
	uint32_t got[2];
	CHECK(cuMemcpyDtoH(got, word, 8));
	EQ(got[1], 17);
	CHECK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &p));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuMemcpyDtoH(got, word, 8));
	EQ(got[1], 18);
	p.count = 1;
	EXPECT(cuGraphExecBatchMemOpNodeSetParams(exec, node, &p), CUDA_ERROR_INVALID_VALUE);
	p.count = 0;
	EXPECT(cuGraphBatchMemOpNodeSetParams(node, &p), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuMemFree(word));
}

int main(void) {
	context = open_device();
	boxes();
	rows();
	words();
	return 0;
}
