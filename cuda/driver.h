// What gorgonia.org/cu lacks, or does in a way that a replay cannot use: work as
// plain C records, enqueued, added to graphs and updated there.
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
	unsigned short block[3]; // no GPU has blocks that do not fit
	unsigned shared;
};

// parameters are what a launch passes: the packed block, and the list that points the driver to it.
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

// step is what a stream waits for, then runs, then records, or the work of a graph node. As in a program by hand it
// is one record, since a list of waits, launches and records in any order is what no processor predicts.
struct step {
	CUstream stream;
	const CUevent *waits;
	unsigned wait_count;
	unsigned commands; // waits, the work if there is any, and the record if there is one
	CUevent record;    // NULL for none
	enum step_kind kind;
	struct parameters *parameters; // of a launch; NULL for none
	char *label;                   // for the simulator; a GPU's driver cannot be told
	union {
		struct launch launch; // launch_with has attributes, too
		struct copy copy;
		struct fill fill;
		struct prefetch prefetch;
		uintptr_t call; // the handle of a Go function
		CUgraphExec exec;
	} as;
};

// outcome is a result, and of a failure how many commands were enqueued before it.
struct outcome {
	CUresult code;
	size_t done;
};

// Each of these makes the context current for its own duration, on whatever thread
// it is called from, and leaves the thread as it was.
// driver_new_parameters are parameters with room for so many bytes, or NULL; free frees them.
struct parameters *driver_new_parameters(size_t room);

// driver_submit enqueues a stretch of a list of steps, which goes round: the last commands of step `first`, from
// `within` on, then so many whole steps, then the first commands of another. Without a head it begins with step
// `first`.
struct outcome driver_submit(CUcontext context, const struct step *list, size_t steps, size_t first, size_t within, size_t head, size_t whole, size_t tail, int labelled);
CUresult driver_synchronize(CUcontext context, CUstream stream);
CUresult driver_synchronize_all(CUcontext context);
CUresult driver_add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct step *c, CUgraphNode *node);
CUresult driver_create_condition(CUcontext context, CUgraph graph, unsigned initial, CUgraphConditionalHandle *handle);
CUresult driver_add_conditional(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphConditionalHandle handle, int type, unsigned count, CUgraphNode *node, CUgraph *bodies);
CUresult driver_instantiate(CUcontext context, CUgraph graph, int priorities, CUgraphExec *exec);

// update is what a node of an instance is to do, and whether that switches it on or off.
enum turn { turn_none, turn_on, turn_off, turn_keep }; // keep: it is off and stays so

struct update {
	CUgraphNode node;
	const struct step *work;
	enum turn turn;
};

struct outcome driver_update_nodes(CUcontext context, CUgraphExec exec, const struct update *list, size_t n);
// driver_upload_graph returns when a graph is where launches of it in a stream will find it.
CUresult driver_upload_graph(CUcontext context, CUgraphExec exec, CUstream stream);
CUresult driver_launch_graph(CUcontext context, CUgraphExec exec, CUstream stream);
CUresult driver_alloc_host(CUcontext context, size_t bytes, void **p);
CUresult driver_param_bytes(CUcontext context, CUfunction function, size_t *bytes);
CUresult driver_allow_shared(CUcontext context, CUfunction function, unsigned bytes);

// driver_in_host_call is whether the calling thread runs a host call now.
int driver_in_host_call(void);

// driver_mark_host_call notes that the calling thread runs a host call from now on, or no longer.
void driver_mark_host_call(int runs);

#endif
