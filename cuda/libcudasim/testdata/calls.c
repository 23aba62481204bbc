// repriseCalls counts each call of a driver function once, including calls that fail, and no other functions.
#include "check.h"

#include <reprise.h>

enum { BYTES = 64, ROUNDS = 10 };

int main(void) {
	CUcontext context = open_device();
	CUstream s, t;
	CUevent e;
	CUdeviceptr p;
	CUgraph graph;
	CUgraphNode node;
	CUgraphExec exec;
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&p, BYTES));
	CHECK(cuGraphCreate(&graph, 0));
	CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .value = 1, .elementSize = 4, .width = BYTES / 4, .height = 1};
	CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
	CHECK(cuGraphInstantiate(&exec, graph, 0));

	uint64_t before = repriseCalls();
	TRUE(before >= 10); // those above
	EQ(repriseCalls(), before);
	CHECK(repriseLabel("fill"));
	(void)repriseNow();
	EQ(repriseCalls(), before);

	for (int i = 0; i < ROUNDS; i++) {
		CHECK(cuMemsetD32Async(p, 0, BYTES / 4, s));
		CHECK(cuEventRecord(e, s));
		CHECK(cuStreamWaitEvent(t, e, 0));
		CHECK(cuGraphLaunch(exec, t));
		CHECK(cuStreamSynchronize(t));
	}
	EQ(repriseCalls() - before, 5 * ROUNDS);
	EXPECT(cuMemFree(0x10), CUDA_ERROR_INVALID_VALUE);
	EQ(repriseCalls() - before, 5 * ROUNDS + 1);
	return 0;
}
