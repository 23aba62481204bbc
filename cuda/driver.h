// Driver calls that gorgonia.org/cu lacks or implements incorrectly. Work is described by C records (struct step), which
// are enqueued, added to graphs as nodes, and used to update nodes.
#ifndef REPRISE_CUDA_DRIVER_H
#define REPRISE_CUDA_DRIVER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum step_kind {
	step_nothing, step_launch, step_launch_with, step_copy, step_fill, step_call, step_prefetch, step_graph,
};

struct launch {
	CUfunction function;
	unsigned grid[3];
	unsigned short block[3]; // at most 1024 threads
	unsigned shared;
};

// parameters holds the packed parameter block of a launch, and the list through which the driver finds it.
struct parameters {
	void *list[5];
	size_t bytes, room; // of block
	int cooperative;
	int priority; // 0: that of the stream
	unsigned char block[];
};

struct copy {
	CUdeviceptr dst, src;
	size_t bytes;
	int dst_is_host, src_is_host;
};

struct fill {
	CUdeviceptr dst;
	unsigned value, width;
	size_t count;
};

struct prefetch {
	CUdeviceptr at;
	size_t bytes;
	CUdevice to;
};

// step is a part of a replay on one stream: waits for events, then one piece of work, then the record of an event. It is
// also the work of a graph node. A hand-written program has the same fixed order. With separate records for waits,
// launches and records in any order, the processor could not predict the branches.
struct step {
	CUstream stream;
	const CUevent *waits;
	unsigned wait_count;
	unsigned commands; // waits, the work if there is any, and the record if there is one
	CUevent record;    // NULL for none
	enum step_kind kind;
	struct parameters *parameters; // of a launch; NULL for none
	char *label;                   // for errors of the simulator; a GPU's driver has no use for it
	union {
		struct launch launch; // launch_with has attributes, too
		struct copy copy;
		struct fill fill;
		struct prefetch prefetch;
		uintptr_t call; // the handle of a Go function
		CUgraphExec exec;
	} as;
};

// outcome is a result code, and after a failure the number of commands that were enqueued before it.
struct outcome {
	CUresult code;
	size_t done;
};

// driver_new_parameters allocates parameters with room for a block of `room` bytes. It returns NULL if there is no
// memory. The caller frees the result with free.
struct parameters *driver_new_parameters(size_t room);

// Each of the following functions makes the context current during the call, on any thread, and then restores the
// thread's previous context.

// driver_submit enqueues a range of a list of steps. The list is circular: after the last step comes the first.
// The range consists of
//
//   head   commands of step `first`, beginning with command `within`; 0 to begin with whole steps at `first`
//   whole  steps after these
//   tail   commands at the start of the step after these
//
// `labelled` is 1 if steps have labels.
struct outcome driver_submit(CUcontext context, const struct step *list, size_t steps, size_t first, size_t within, size_t head, size_t whole, size_t tail, int labelled);
CUresult driver_synchronize(CUcontext context, CUstream stream);
CUresult driver_synchronize_all(CUcontext context);
CUresult driver_add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct step *c, CUgraphNode *node);
CUresult driver_create_condition(CUcontext context, CUgraph graph, unsigned initial, CUgraphConditionalHandle *handle);
CUresult driver_add_conditional(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphConditionalHandle handle, int type, unsigned count, CUgraphNode *node, CUgraph *bodies);
CUresult driver_instantiate(CUcontext context, CUgraph graph, int priorities, CUgraphExec *exec);

// update is the new work of a node of an instance, and whether the node is switched on or off.
enum turn { turn_none, turn_on, turn_off, turn_keep }; // keep: the node is off and stays off

struct update {
	CUgraphNode node;
	const struct step *work;
	enum turn turn;
};

struct outcome driver_update_nodes(CUcontext context, CUgraphExec exec, const struct update *list, size_t n);
// driver_upload_graph uploads a graph for launches in a stream, and waits until the upload has ended.
CUresult driver_upload_graph(CUcontext context, CUgraphExec exec, CUstream stream);
CUresult driver_launch_graph(CUcontext context, CUgraphExec exec, CUstream stream);
CUresult driver_alloc_host(CUcontext context, size_t bytes, void **p);
CUresult driver_param_bytes(CUcontext context, CUfunction function, size_t *bytes);
CUresult driver_allow_shared(CUcontext context, CUfunction function, unsigned bytes);

// driver_in_host_call returns 1 if the calling thread is running a host call, else 0.
int driver_in_host_call(void);

// driver_mark_host_call marks the calling thread as running a host call (1), or not (0).
void driver_mark_host_call(int runs);

#endif
