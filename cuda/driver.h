// What gorgonia.org/cu lacks, or does in a way that a replay cannot use: work as
// plain C records, enqueued, added to graphs and updated there.
#ifndef REPRISE_CUDA_DRIVER_H
#define REPRISE_CUDA_DRIVER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum command_kind { command_nothing, command_launch, command_copy, command_fill, command_call, command_prefetch, command_record, command_await };

struct launch {
	CUfunction function;
	unsigned grid[3], block[3], shared;
	int cooperative;
	int priority; // 0: that of the stream
	void *params; // the packed parameter block, in C memory that the command owns
	size_t bytes, room;
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

// command is one step of a list, or what a graph node does. A union would save
// half of its bytes, and cgo shows unions as arrays of bytes.
struct command {
	enum command_kind kind;
	CUstream stream;
	CUevent event;  // of record and await
	uintptr_t call; // the handle of a Go function
	int labelled;   // when the simulator is to know the label, which a GPU's driver cannot
	char label[96]; // cut to what fits
	struct launch launch;
	struct copy copy;
	struct fill fill;
	struct prefetch prefetch;
};

// outcome is a result, and which command of a list it is about.
struct outcome {
	CUresult code;
	size_t at;
};

// Each of these makes the context current for its own duration, on whatever thread
// it is called from, and leaves the thread as it was.
struct outcome driver_submit(CUcontext context, const struct command *list, size_t n);
CUresult driver_synchronize(CUcontext context, CUstream stream);
CUresult driver_synchronize_all(CUcontext context);
CUresult driver_add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct command *c, CUgraphNode *node);
CUresult driver_create_condition(CUcontext context, CUgraph graph, unsigned initial, CUgraphConditionalHandle *handle);
CUresult driver_add_conditional(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphConditionalHandle handle, int type, unsigned count, CUgraphNode *node, CUgraph *bodies);
CUresult driver_instantiate(CUcontext context, CUgraph graph, int priorities, CUgraphExec *exec);
CUresult driver_update_node(CUcontext context, CUgraphExec exec, CUgraphNode node, const struct command *c);
CUresult driver_enable_node(CUcontext context, CUgraphExec exec, CUgraphNode node, int on);
CUresult driver_launch_graph(CUcontext context, CUgraphExec exec, CUstream stream);
CUresult driver_alloc_host(CUcontext context, size_t bytes, void **p);
CUresult driver_param_bytes(CUcontext context, CUfunction function, size_t *bytes);
CUresult driver_allow_shared(CUcontext context, CUfunction function, unsigned bytes);

// driver_in_host_call is whether the calling thread runs a host call now.
int driver_in_host_call(void);

#endif
