// Copies and memsets in a captured stream run when the graph is launched, and read the
// contents of memory at that time.
#include "check.h"

#define N 1000

int main(void) {
	CUdeviceptr a, b;
	unsigned char *in, *out, pageable[N];
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	size_t nodes = 0;
	CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcPitch = 20, .dstPitch = 10, .WidthInBytes = 10, .Height = 50};
	open_device();
	CHECK(cuMemAlloc(&a, N));
	CHECK(cuMemAlloc(&b, N));
	CHECK(cuMemAllocHost((void **)&in, N));
	CHECK(cuMemAllocHost((void **)&out, N));
	CHECK(cuMemsetD8(b, 0xee, N));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	box.srcDevice = a, box.dstDevice = b;
	memset(out, 0, N);
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(cuMemcpyHtoDAsync(a, in, N, stream));
	CHECK(cuMemsetD2D8Async(a, 20, 7, 5, 50, stream));
	CHECK(cuMemcpy2DAsync(&box, stream));
	CHECK(cuMemsetD16Async(b + 500, 0x0909, 10, stream));
	CHECK(cuMemcpyAsync((CUdeviceptr)out, b, N, stream));
	CHECK(cuStreamEndCapture(stream, &graph));
	CHECK(cuGraphGetNodes(graph, NULL, &nodes));
	EQ(nodes, 5);
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	EQ(out[0], 0);
	for (int round = 0; round < 3; round++) {
		memset(in, 30 + round, N);
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuStreamSynchronize(stream));
		for (int i = 0; i < N; i++)
			EQ(out[i], i < 500 ? (i % 10 < 5 ? 7 : 30 + round) : i < 520 ? 9 : 0xee);
	}
	// Calls that wait cannot be captured, and invalidate the capture.
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT(cuMemcpyHtoD(a, pageable, N), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT(cuMemAlloc(&a, N), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	CHECK(cuMemcpyHtoD(a, pageable, N));
	CHECK(cuStreamEndCapture(stream, &graph));
	return 0;
}
