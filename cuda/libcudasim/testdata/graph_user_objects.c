// A user object lives as long as the program, a graph, its clones or its instances
// hold references to it, and while launches are in progress.
#include "check.h"

#include <stdatomic.h>
#include <unistd.h>

static void destroy(void *flag) { atomic_fetch_add((atomic_int *)flag, 1); }

static atomic_int *ran;
static int ran_before_destroy = -1;

static void work(void *destroyed) {
	ran_before_destroy = !atomic_load((atomic_int *)destroyed);
	atomic_fetch_add(ran, 1);
}

// settle waits for a thread of the driver's own.
static void settle(atomic_int *flag, int want) {
	for (int i = 0; i < 5000 && atomic_load(flag) != want; i++)
		usleep(1000);
	EQ(atomic_load(flag), want);
}

int main(void) {
	atomic_int gone = 0, calls = 0;
	CUuserObject object;
	ran = &calls;
	open_device();
	EXPECT(cuUserObjectCreate(&object, &gone, destroy, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectCreate(&object, &gone, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectCreate(&object, &gone, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_ERROR_INVALID_VALUE);

	// References of the program's alone.
	CHECK(cuUserObjectCreate(&object, &gone, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	CHECK(cuUserObjectRetain(object, 2));
	CHECK(cuUserObjectRelease(object, 2));
	EQ(gone, 0);
	CHECK(cuUserObjectRelease(object, 1));
	settle(&gone, 1);

	// A graph's, its clone's, and those of a graph that contains it.
	CUgraph graph, clone, outer;
	CUgraphNode node;
	gone = 0;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuUserObjectCreate(&object, &gone, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	CHECK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
	CHECK(cuGraphReleaseUserObject(graph, object, 1));
	CHECK(cuGraphClone(&clone, graph));
	CHECK(cuGraphCreate(&outer, 0));
	CHECK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, clone));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphDestroy(clone));
	usleep(1000);
	EQ(gone, 0);
	CHECK(cuGraphDestroy(outer));
	settle(&gone, 1);

	// An instance's, until its last launch has ended.
	CUgraphExec exec;
	CUDA_HOST_NODE_PARAMS host = {.fn = work, .userData = &gone};
	gone = 0;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
	CHECK(cuUserObjectCreate(&object, &gone, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	CHECK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuGraphDestroy(graph));
	for (int i = 0; i < 10; i++)
		CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuCtxSynchronize());
	EQ(calls, 10);
	EQ(ran_before_destroy, 1);
	settle(&gone, 1);
	return 0;
}
