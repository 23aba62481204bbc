//go:build cuda

#include "driver.h"

#include "reprise.h"

#include "_cgo_export.h"

static __thread int in_host_call;

int driver_in_host_call(void) { return in_host_call; }

static void CUDA_CB run_host_call(void *handle) {
	in_host_call = 1;
	runHostCall((uintptr_t)handle);
	in_host_call = 0;
}

// The result of body with the context current. Nothing is left behind on the
// thread: it is not ours, and other users of the driver may have a context there.
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

// A packed parameter block goes to the driver as it is, through `extra`: a list of five
// entries. A kernel without parameters has no block to point at, and no list.
static void **pack(const struct launch *l, void *list[5]) {
	list[0] = CU_LAUNCH_PARAM_BUFFER_POINTER, list[1] = l->params;
	list[2] = CU_LAUNCH_PARAM_BUFFER_SIZE, list[3] = (void *)&l->bytes;
	list[4] = CU_LAUNCH_PARAM_END;
	return l->bytes ? list : NULL;
}

static CUresult launch(const struct launch *l, CUstream stream) {
	void *list[5], **extra = pack(l, list);
	CUlaunchAttribute attributes[2];
	CUlaunchConfig config = {l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared, stream, attributes, 0};
	if (l->cooperative) // cuLaunchCooperativeKernel takes no extra
		attributes[config.numAttrs++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
	if (l->priority)
		attributes[config.numAttrs++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = l->priority};
	if (config.numAttrs)
		return cuLaunchKernelEx(&config, l->function, NULL, extra);
	return cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
		l->shared, stream, NULL, extra);
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

static CUresult enqueue(const struct command *c) {
	if (c->labelled)
		repriseLabel(c->label);
	switch (c->kind) {
	case command_launch:
		return launch(&c->launch, c->stream);
	case command_copy:
		return c->copy.bytes ? cuMemcpyAsync(c->copy.dst, c->copy.src, c->copy.bytes, c->stream) : CUDA_SUCCESS;
	case command_fill:
		return c->fill.count ? fill(&c->fill, c->stream) : CUDA_SUCCESS;
	case command_call:
		return cuLaunchHostFunc(c->stream, run_host_call, (void *)c->call);
	case command_prefetch:
		return cuMemPrefetchAsync(c->prefetch.at, c->prefetch.bytes, c->prefetch.to, c->stream);
	case command_record:
		return cuEventRecord(c->event, c->stream);
	case command_await:
		return cuStreamWaitEvent(c->stream, c->event, 0);
	default:
		return CUDA_SUCCESS; // a stream needs no command to keep its order
	}
}

static CUresult submit(const struct command *list, size_t n, size_t *at) {
	for (*at = 0; *at < n; ++*at) {
		CUresult r = enqueue(&list[*at]);
		if (r != CUDA_SUCCESS)
			return r;
	}
	return CUDA_SUCCESS;
}

static CUresult submit_within(CUcontext context, const struct command *list, size_t n, size_t *at) {
	WITHIN(context, submit(list, n, at));
}

struct outcome driver_submit(CUcontext context, const struct command *list, size_t n) {
	struct outcome o = {CUDA_SUCCESS, 0};
	o.code = submit_within(context, list, n, &o.at);
	return o;
}

CUresult driver_synchronize(CUcontext context, CUstream stream) { WITHIN(context, cuStreamSynchronize(stream)); }

CUresult driver_synchronize_all(CUcontext context) { WITHIN(context, cuCtxSynchronize()); }

static CUDA_KERNEL_NODE_PARAMS kernel_params(const struct launch *l, void **extra) {
	CUDA_KERNEL_NODE_PARAMS p = {
		.func = l->function,
		.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2],
		.blockDimX = l->block[0], .blockDimY = l->block[1], .blockDimZ = l->block[2],
		.sharedMemBytes = l->shared, .extra = extra,
	};
	return p;
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

static CUresult set_attributes(CUgraphNode node, const struct launch *l) {
	CUkernelNodeAttrValue cooperative = {.cooperative = 1}, priority = {.priority = l->priority};
	CUresult r = CUDA_SUCCESS;
	if (l->cooperative)
		r = cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &cooperative);
	if (r == CUDA_SUCCESS && l->priority)
		r = cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority);
	return r;
}

static CUresult add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct command *c, CUgraphNode *node) {
	void *list[5];
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(&c->launch, pack(&c->launch, list));
	CUDA_MEMCPY3D copy = copy_params(&c->copy);
	CUDA_MEMSET_NODE_PARAMS set = fill_params(&c->fill);
	CUDA_HOST_NODE_PARAMS host = {run_host_call, (void *)c->call};
	CUresult r;
	if (c->labelled)
		repriseLabel(c->label);
	switch (c->kind) {
	case command_launch:
		r = cuGraphAddKernelNode(node, graph, after, n, &kernel);
		return r == CUDA_SUCCESS ? set_attributes(*node, &c->launch) : r;
	case command_copy:
		if (c->copy.bytes)
			return cuGraphAddMemcpyNode(node, graph, after, n, &copy, context);
		break;
	case command_fill:
		if (c->fill.count)
			return cuGraphAddMemsetNode(node, graph, after, n, &set, context);
		break;
	case command_call:
		return cuGraphAddHostNode(node, graph, after, n, &host);
	default:
		break;
	}
	return cuGraphAddEmptyNode(node, graph, after, n); // also for no bytes, which the driver has no node for
}

CUresult driver_add_node(CUcontext context, CUgraph graph, const CUgraphNode *after, size_t n, const struct command *c, CUgraphNode *node) {
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

static CUresult update_node(CUcontext context, CUgraphExec exec, CUgraphNode node, const struct command *c) {
	void *list[5];
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(&c->launch, pack(&c->launch, list));
	CUDA_MEMCPY3D copy = copy_params(&c->copy);
	CUDA_MEMSET_NODE_PARAMS set = fill_params(&c->fill);
	CUDA_HOST_NODE_PARAMS host = {run_host_call, (void *)c->call};
	if (c->labelled)
		repriseLabel(c->label);
	switch (c->kind) {
	case command_launch:
		return cuGraphExecKernelNodeSetParams(exec, node, &kernel);
	case command_copy:
		return cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context);
	case command_fill:
		return cuGraphExecMemsetNodeSetParams(exec, node, &set, context);
	case command_call:
		return cuGraphExecHostNodeSetParams(exec, node, &host);
	default:
		return CUDA_SUCCESS;
	}
}

CUresult driver_update_node(CUcontext context, CUgraphExec exec, CUgraphNode node, const struct command *c) {
	WITHIN(context, update_node(context, exec, node, c));
}

CUresult driver_enable_node(CUcontext context, CUgraphExec exec, CUgraphNode node, int on) {
	WITHIN(context, cuGraphNodeSetEnabled(exec, node, (unsigned)on));
}

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
