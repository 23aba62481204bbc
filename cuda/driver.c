//go:build cuda && cgo

#include "driver.h"

#include "reprise.h"

#include <stdlib.h>

#include "_cgo_export.h"

static __thread int in_host_call;

int driver_in_host_call(void) { return in_host_call; }

void driver_mark_host_call(int runs) { in_host_call = runs; }

static void CUDA_CB run_host_call(void *handle) { runHostCall((uintptr_t)handle); }

// WITHIN returns the result of body, which runs with the context current. It restores the thread's previous context,
// because the thread is not ours and other users of the driver may have made a context current there.
#define WITHIN(context, body)                                 \
	do {                                                      \
		CUcontext popped;                                     \
		CUresult pushed = cuCtxPushCurrent(context);          \
		if (pushed != CUDA_SUCCESS)                           \
			return pushed;                                    \
		CUresult result = (body);                             \
		cuCtxPopCurrent(&popped);                             \
		return result;                                        \
	} while (0)

// The driver receives the packed parameter block through its argument `extra`, a list of five entries.
struct parameters *driver_new_parameters(size_t room) {
	struct parameters *p = calloc(1, sizeof *p + room);
	if (p == NULL)
		return NULL;
	p->list[0] = CU_LAUNCH_PARAM_BUFFER_POINTER, p->list[1] = p->block;
	p->list[2] = CU_LAUNCH_PARAM_BUFFER_SIZE, p->list[3] = &p->bytes;
	p->list[4] = CU_LAUNCH_PARAM_END;
	p->room = room;
	return p;
}

// extra returns the list, or NULL for a kernel without parameters.
static void **extra(const struct parameters *p) { return p && p->bytes ? (void **)p->list : NULL; }

// launch_with launches a kernel with attributes. It uses cuLaunchKernelEx because cuLaunchCooperativeKernel has no
// argument `extra`.
static CUresult launch_with(const struct launch *l, const struct parameters *p, CUstream stream) {
	CUlaunchAttribute attributes[2];
	CUlaunchConfig config = {l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared, stream, attributes, 0};
	if (p->cooperative)
		attributes[config.numAttrs++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	if (p->priority)
		attributes[config.numAttrs++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = p->priority};
	return cuLaunchKernelEx(&config, l->function, NULL, extra(p));
}

static CUresult fill(const struct fill *f, CUstream stream) {
	switch (f->width) {
	case 1:
		return cuMemsetD8Async(f->dst, (unsigned char)f->value, f->count, stream);
	case 2:
		return cuMemsetD16Async(f->dst, (unsigned short)f->value, f->count, stream);
	default:
		return cuMemsetD32Async(f->dst, f->value, f->count, stream);
	}
}

// set_label sets the label of the next object or work for errors of the simulator.
static CUresult set_label(const struct step *s) { return s->label ? repriseLabel(s->label) : CUDA_SUCCESS; }

static CUresult rare_work(const struct step *s) {
	switch (s->kind) {
	case step_launch_with:
		return launch_with(&s->as.launch, s->parameters, s->stream);
	case step_copy:
		return s->as.copy.bytes ? cuMemcpyAsync(s->as.copy.dst, s->as.copy.src, s->as.copy.bytes, s->stream) : CUDA_SUCCESS;
	case step_fill:
		return s->as.fill.count ? fill(&s->as.fill, s->stream) : CUDA_SUCCESS;
	case step_call:
		return cuLaunchHostFunc(s->stream, run_host_call, (void *)s->as.call);
	case step_prefetch:
		return s->as.prefetch.bytes == 0 ? CUDA_SUCCESS : cuMemPrefetchAsync(s->as.prefetch.at, s->as.prefetch.bytes, s->as.prefetch.to, s->stream);
	default:
		return CUDA_ERROR_UNKNOWN;
	}
}

// The functions marked HOT are the path of a replay. They are inlined into one function, so that a replay costs hardly
// more than its driver calls.
#define HOT static inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(condition, 1)
#define FAILS(call) __builtin_expect((call) != CUDA_SUCCESS, 0)
// PERHAPS marks a loop condition that is true half of the time: an operation usually has no wait or one. Compilers
// assume many iterations, and would lay the loop out with one more jump per wait, which costs 4 % of a replay with many
// waits.
#define PERHAPS(condition) __builtin_expect_with_probability(condition, 1, 0.5)

HOT CUresult work(const struct step *s, int labelled) {
	const struct launch *l = &s->as.launch;
	if (labelled)
		set_label(s);
	if (LIKELY(s->kind == step_launch))
		return cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
			l->shared, s->stream, NULL, (void **)s->parameters);
	if (s->kind == step_graph)
		return cuGraphLaunch(s->as.exec, s->stream);
	if (s->kind == step_nothing) // a stream needs no command to keep its order
		return CUDA_SUCCESS;
	return rare_work(s);
}

HOT CUresult whole(const struct step *s, int labelled, size_t *at) {
	CUresult r;
	for (size_t i = 0; PERHAPS(i < s->wait_count); i++)
		if (FAILS(r = cuStreamWaitEvent(s->stream, s->waits[i], 0)))
			return *at = i, r;
	if (FAILS(r = work(s, labelled)))
		return *at = s->wait_count, r;
	if (s->record != NULL && FAILS(r = cuEventRecord(s->record, s->stream)))
		return *at = s->commands - 1, r;
	return CUDA_SUCCESS;
}

// part enqueues the commands [from, to) of a step. *at is the index of the command that failed, or `to`.
static CUresult part(const struct step *s, size_t from, size_t to, int labelled, size_t *at) {
	for (*at = from; *at < to; ++*at) {
		CUresult r;
		if (*at < s->wait_count)
			r = cuStreamWaitEvent(s->stream, s->waits[*at], 0);
		else if (*at == s->commands - 1 && s->record != NULL)
			r = cuEventRecord(s->record, s->stream);
		else
			r = work(s, labelled);
		if (r != CUDA_SUCCESS)
			return r;
	}
	return CUDA_SUCCESS;
}

// commands returns the number of commands in n steps of the circular list, beginning with step `first`. It is marked
// cold because only failures need it: the compiler then keeps it out of the hot path.
static __attribute__((cold)) size_t commands(const struct step *list, size_t steps, size_t first, size_t n) {
	size_t sum = 0;
	for (; n > 0; n--, first = first + 1 == steps ? 0 : first + 1)
		sum += list[first].commands;
	return sum;
}

HOT struct outcome submit(const struct step *list, size_t steps, size_t first, size_t within, size_t head, size_t count, size_t tail, int labelled) {
	const struct step *s = list + first, *end = list + steps;
	size_t at = 0;
	CUresult r;
	if (head > 0) {
		r = part(s, within, within + head, labelled, &at);
		if (r != CUDA_SUCCESS)
			return (struct outcome){r, at - within};
		s = s + 1 == end ? list : s + 1;
		first = (size_t)(s - list);
	}
	for (size_t left = count; left > 0; left--) {
		if (FAILS(r = whole(s, labelled, &at)))
			return (struct outcome){r, head + commands(list, steps, first, count - left) + at};
		if (++s == end)
			s = list;
	}
	if (tail == 0)
		return (struct outcome){CUDA_SUCCESS, 0};
	r = part(s, 0, tail, labelled, &at);
	return (struct outcome){r, r == CUDA_SUCCESS ? 0 : head + commands(list, steps, first, count) + at};
}

// launch_graph launches a graph several times. A replay of a graph is a single driver call, so that a test of the kind of
// step in each replay would be measurable.
static struct outcome launch_graph(const struct step *s, size_t times) {
	CUgraphExec exec = s->as.exec;
	CUstream stream = s->stream;
	for (size_t i = 0; i < times; i++) {
		CUresult r = cuGraphLaunch(exec, stream);
		if (FAILS(r))
			return (struct outcome){r, i};
	}
	return (struct outcome){CUDA_SUCCESS, 0};
}

struct outcome driver_submit(CUcontext context, const struct step *list, size_t steps, size_t first, size_t within, size_t head, size_t whole, size_t tail, int labelled) {
	CUcontext popped;
	struct outcome o = {cuCtxPushCurrent(context), 0};
	if (o.code != CUDA_SUCCESS)
		return o;
	if (steps == 1 && list->kind == step_graph && list->commands == 1)
		o = launch_graph(list, whole);
	else if (labelled)
		o = submit(list, steps, first, within, head, whole, tail, 1);
	else
		o = submit(list, steps, first, within, head, whole, tail, 0);
	cuCtxPopCurrent(&popped);
	return o;
}

CUresult driver_synchronize(CUcontext context, CUstream stream) { WITHIN(context, cuStreamSynchronize(stream)); }

CUresult driver_synchronize_all(CUcontext context) { WITHIN(context, cuCtxSynchronize()); }

static CUDA_KERNEL_NODE_PARAMS kernel_params(const struct launch *l, const struct parameters *p) {
	CUDA_KERNEL_NODE_PARAMS params = {
		.func = l->function,
		.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2],
		.blockDimX = l->block[0], .blockDimY = l->block[1], .blockDimZ = l->block[2],
		.sharedMemBytes = l->shared, .extra = extra(p),
	};
	return params;
}

static CUDA_MEMCPY3D copy_params(const struct copy *c) {
	CUDA_MEMCPY3D p = {
		.srcMemoryType = c->src_is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.dstMemoryType = c->dst_is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.WidthInBytes = c->bytes, .Height = 1, .Depth = 1,
	};
	if (c->src_is_host)
		p.srcHost = (const void *)c->src;
	else
		p.srcDevice = c->src;
	if (c->dst_is_host)
		p.dstHost = (void *)c->dst;
	else
		p.dstDevice = c->dst;
	return p;
}

static CUDA_MEMSET_NODE_PARAMS fill_params(const struct fill *f) {
	unsigned mask = f->width == 4 ? ~0u : (1u << 8 * f->width) - 1;
	CUDA_MEMSET_NODE_PARAMS p = {.dst = f->dst, .value = f->value & mask, .elementSize = f->width, .width = f->count, .height = 1};
	return p;
}

static CUresult set_attributes(CUgraphNode node, const struct parameters *p) {
	CUkernelNodeAttrValue cooperative = {.cooperative = 1}, priority = {.priority = p->priority};
	CUresult r = CUDA_SUCCESS;
	if (p->cooperative)
		r = cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &cooperative);
	if (r == CUDA_SUCCESS && p->priority)
		r = cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority);
	return r;
}

static CUresult add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct step *c, CUgraphNode *node) {
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(&c->as.launch, c->parameters);
	CUDA_MEMCPY3D copy = copy_params(&c->as.copy);
	CUDA_MEMSET_NODE_PARAMS set = fill_params(&c->as.fill);
	CUDA_HOST_NODE_PARAMS host = {run_host_call, (void *)c->as.call};
	CUresult r;
	set_label(c);
	switch (c->kind) {
	case step_launch:
		return cuGraphAddKernelNode(node, graph, after, n, &kernel);
	case step_launch_with:
		r = cuGraphAddKernelNode(node, graph, after, n, &kernel);
		return r == CUDA_SUCCESS ? set_attributes(*node, c->parameters) : r;
	case step_copy:
		if (c->as.copy.bytes)
			return cuGraphAddMemcpyNode(node, graph, after, n, &copy, context);
		break;
	case step_fill:
		if (c->as.fill.count)
			return cuGraphAddMemsetNode(node, graph, after, n, &set, context);
		break;
	case step_call:
		return cuGraphAddHostNode(node, graph, after, n, &host);
	default:
		break;
	}
	return cuGraphAddEmptyNode(node, graph, after, n); // also for copies and fills of 0 bytes, which the driver refuses as nodes
}

CUresult driver_add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct step *c, CUgraphNode *node) {
	WITHIN(context, add_node(context, graph, after, n, c, node));
}

static CUresult add_any(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphNodeParams *p, CUgraphNode *node) {
	WITHIN(context, cuGraphAddNode(node, graph, after, n, p));
}

CUresult driver_create_condition(CUcontext context, CUgraph graph, unsigned initial, CUgraphConditionalHandle *handle) {
	WITHIN(context, cuGraphConditionalHandleCreate(handle, graph, context, initial, CU_GRAPH_COND_ASSIGN_DEFAULT));
}

CUresult driver_add_conditional(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphConditionalHandle handle, int type, unsigned count, CUgraphNode *node, CUgraph *bodies) {
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = {.handle = handle, .type = (CUgraphConditionalNodeType)type, .size = count, .ctx = context}};
	CUresult r = add_any(context, graph, after, n, &p, node);
	for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
		bodies[i] = p.conditional.phGraph_out[i];
	return r;
}

CUresult driver_instantiate(CUcontext context, CUgraph graph, int priorities, CUgraphExec *exec) {
	WITHIN(context, cuGraphInstantiateWithFlags(exec, graph, priorities ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0));
}

static CUresult update_node(CUcontext context, CUgraphExec exec, CUgraphNode node, const struct step *c) {
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(&c->as.launch, c->parameters);
	CUDA_MEMCPY3D copy = copy_params(&c->as.copy);
	CUDA_MEMSET_NODE_PARAMS set = fill_params(&c->as.fill);
	CUDA_HOST_NODE_PARAMS host = {run_host_call, (void *)c->as.call};
	set_label(c);
	switch (c->kind) {
	case step_launch:
	case step_launch_with:
		return cuGraphExecKernelNodeSetParams(exec, node, &kernel);
	case step_copy:
		return cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context);
	case step_fill:
		return cuGraphExecMemsetNodeSetParams(exec, node, &set, context);
	case step_call:
		return cuGraphExecHostNodeSetParams(exec, node, &host);
	default:
		return CUDA_SUCCESS;
	}
}

// update_nodes applies a list of updates. *done is the number of updates before the first failure.
static CUresult update_nodes(CUcontext context, CUgraphExec exec, const struct update *list, size_t n, size_t *done) {
	CUresult r = CUDA_SUCCESS;
	for (*done = 0; *done < n && r == CUDA_SUCCESS; *done += r == CUDA_SUCCESS) {
		const struct update *u = &list[*done];
		if (u->turn == turn_none || u->turn == turn_on)
			r = update_node(context, exec, u->node, u->work);
		if ((u->turn == turn_on || u->turn == turn_off) && r == CUDA_SUCCESS)
			r = cuGraphNodeSetEnabled(exec, u->node, u->turn == turn_on);
	}
	return r;
}

static CUresult update_within(CUcontext context, CUgraphExec exec, const struct update *list, size_t n, size_t *done) {
	WITHIN(context, update_nodes(context, exec, list, n, done));
}

struct outcome driver_update_nodes(CUcontext context, CUgraphExec exec, const struct update *list, size_t n) {
	struct outcome o = {CUDA_SUCCESS, 0};
	o.code = update_within(context, exec, list, n, &o.done);
	return o;
}

static CUresult upload_graph(CUgraphExec exec, CUstream stream) {
	CUresult r = cuGraphUpload(exec, stream);
	return r == CUDA_SUCCESS ? cuStreamSynchronize(stream) : r;
}

CUresult driver_upload_graph(CUcontext context, CUgraphExec exec, CUstream stream) { WITHIN(context, upload_graph(exec, stream)); }

CUresult driver_launch_graph(CUcontext context, CUgraphExec exec, CUstream stream) { WITHIN(context, cuGraphLaunch(exec, stream)); }

CUresult driver_alloc_host(CUcontext context, size_t bytes, void **p) { WITHIN(context, cuMemHostAlloc(p, bytes, 0)); }

CUresult driver_allow_shared(CUcontext context, CUfunction function, unsigned bytes) {
	WITHIN(context, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
}

// The end of the last parameter: the driver answers an error for one that there is not.
static CUresult param_bytes(CUfunction function, size_t *bytes) {
	size_t offset, size, i = 0;
	CUresult r;
	for (*bytes = 0; (r = cuFuncGetParamInfo(function, i, &offset, &size)) == CUDA_SUCCESS; i++)
		*bytes = offset + size;
	return r == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : r;
}

CUresult driver_param_bytes(CUcontext context, CUfunction function, size_t *bytes) { WITHIN(context, param_bytes(function, bytes)); }
