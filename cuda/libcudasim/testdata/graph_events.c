// Nodes that record events and wait for them order graphs with streams and with each other. Also
// nodes of all kinds through cuGraphAddNode.
#include "check.h"

static int order[8], steps;

static void step(void *number) { order[steps++] = (int)(intptr_t)number; }

static CUgraphNodeParams host(intptr_t number) {
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_HOST};
	p.host.fn = step;
	p.host.userData = (void *)number;
	return p;
}

int main(void) {
	open_device();
	CUevent ready, done, other;
	CUstream a, b;
	CHECK(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&other, CU_EVENT_DISABLE_TIMING));
	CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));

	// The consumer waits for what the producer records half-way.
	CUgraph producer, consumer;
	CUgraphNode n[3], m[2];
	CUgraphExec produce, consume;
	CHECK(cuGraphCreate(&producer, 0));
	CUgraphNodeParams p = host(1);
	CHECK(cuGraphAddNode(&n[0], producer, NULL, 0, &p));
	CHECK(cuGraphAddEventRecordNode(&n[1], producer, &n[0], 1, ready));
	p = host(2);
	CHECK(cuGraphAddNode(&n[2], producer, &n[1], 1, &p));
	CHECK(cuGraphCreate(&consumer, 0));
	p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
	p.eventWait.event = ready;
	CHECK(cuGraphAddNode(&m[0], consumer, NULL, 0, &p));
	p = host(3);
	CHECK(cuGraphAddNode(&m[1], consumer, &m[0], 1, &p));
	CUevent shown;
	CHECK(cuGraphEventRecordNodeGetEvent(n[1], &shown));
	TRUE(shown == ready);
	CHECK(cuGraphEventWaitNodeGetEvent(m[0], &shown));
	TRUE(shown == ready);
	EXPECT(cuGraphEventWaitNodeGetEvent(n[1], &shown), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphInstantiate(&produce, producer, 0));
	CHECK(cuGraphInstantiate(&consume, consumer, 0));
	CHECK(cuGraphLaunch(produce, a));
	CHECK(cuGraphLaunch(consume, b));
	CHECK(cuCtxSynchronize());
	EQ(steps, 3);
	EQ(order[0], 1); // and 2 and 3 in any order
	CHECK(cuEventQuery(ready));

	// Other events, in the graph and in the instance.
	CHECK(cuGraphExecEventRecordNodeSetEvent(produce, n[1], done));
	CHECK(cuGraphExecEventWaitNodeSetEvent(consume, m[0], done));
	CHECK(cuGraphEventRecordNodeSetEvent(n[1], other));
	CHECK(cuGraphEventRecordNodeGetEvent(n[1], &shown));
	TRUE(shown == other);
	steps = 0;
	CHECK(cuGraphLaunch(produce, a));
	CHECK(cuStreamWaitEvent(b, done, 0));
	CHECK(cuEventRecord(other, b));
	CHECK(cuEventSynchronize(other));
	TRUE(steps >= 1 && order[0] == 1);
	CHECK(cuCtxSynchronize());
	EQ(steps, 2);
	p = host(7);
	CHECK(cuGraphExecNodeSetParams(produce, n[0], &p));
	CHECK(cuGraphNodeSetParams(n[0], &p));
	steps = 0;
	CHECK(cuGraphLaunch(produce, a));
	CHECK(cuCtxSynchronize());
	EQ(order[0], 7);
	EXPECT(cuGraphNodeSetParams(n[1], &p), CUDA_ERROR_INVALID_VALUE);
	p.reserved2 = 1;
	EXPECT(cuGraphNodeSetParams(n[0], &p), CUDA_ERROR_INVALID_VALUE);
	p.reserved2 = 0;
	p.type = (CUgraphNodeType)99;
	EXPECT(cuGraphAddNode(&n[2], producer, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecDestroy(produce));
	CHECK(cuGraphExecDestroy(consume));
	CHECK(cuGraphDestroy(producer));
	CHECK(cuGraphDestroy(consumer));
	CHECK(cuEventDestroy(ready));
	CHECK(cuEventDestroy(done));
	CHECK(cuEventDestroy(other));
	CHECK(cuStreamDestroy(a));
	CHECK(cuStreamDestroy(b));
	return 0;
}
