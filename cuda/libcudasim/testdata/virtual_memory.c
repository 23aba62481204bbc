// Memory without an address, addresses without memory, and mappings: valid calls,
// faults, and the time at which memory is freed.
#include "virtual.h"

static unsigned host[3 * CHUNK / 4];

// errors are calls with one argument that is wrong.
static void errors(CUdeviceptr at, size_t size) {
	CUdeviceptr p;
	CUmemGenericAllocationHandle h, other;
	CUmemAllocationProp prop = on_gpu(0), bad;
	CUmemAccessDesc desc[2] = {{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ},
		{{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CU_MEM_ACCESS_FLAGS_PROT_READ}};
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
	unsigned long long flags;
	size_t n, before = free_memory();

	EXPECT(cuMemAddressReserve(NULL, CHUNK, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, CHUNK + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, CHUNK, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, CHUNK, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, CHUNK, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressReserve(&p, (size_t)1 << 60, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemAddressReserve(&p, (size_t)0 - CHUNK, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemAddressReserve(&p, CHUNK, (size_t)1 << 63, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);

	EXPECT(cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAllocationGranularity(&n, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAllocationGranularity(&n, &prop, 2), CUDA_ERROR_INVALID_VALUE);

	EXPECT(cuMemCreate(NULL, CHUNK, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&h, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&h, CHUNK / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&h, CHUNK, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&h, CHUNK, &prop, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemCreate(&h, (size_t)1 << 50, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemCreate(&h, (size_t)0 - CHUNK, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
	bad = prop, bad.type = CU_MEM_ALLOCATION_TYPE_INVALID;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_INVALID_VALUE);
	bad = prop, bad.location.id = 99;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_INVALID_DEVICE);
	bad = prop, bad.location.type = CU_MEM_LOCATION_TYPE_INVALID;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_INVALID_VALUE);
	bad = prop, bad.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_NOT_SUPPORTED);
	bad = prop, bad.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_NOT_SUPPORTED);
	bad = prop, bad.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
	EXPECT(cuMemCreate(&h, CHUNK, &bad, 0), CUDA_ERROR_NOT_SUPPORTED);
	EQ(free_memory(), before);

	h = create(0, 2 * CHUNK);
	other = create(0, CHUNK);
	EXPECT(cuMemMap(at, CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, CHUNK, CHUNK, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, 0, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, 2 * CHUNK, 0, h, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, 2 * CHUNK, 0, h + 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + 4096, 2 * CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + size - CHUNK, 2 * CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + size, 2 * CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemMap(at + CHUNK, 2 * CHUNK, 0, h, 0));
	EXPECT(cuMemMap(at, 2 * CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + CHUNK, CHUNK, 0, other, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at + 2 * CHUNK, CHUNK, 0, other, 0), CUDA_ERROR_INVALID_VALUE);

	EXPECT(cuMemSetAccess(at + CHUNK, 2 * CHUNK, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at + CHUNK, 2 * CHUNK, desc, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at + CHUNK, CHUNK, desc, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at, 3 * CHUNK, desc, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at + CHUNK, 3 * CHUNK, desc, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at + CHUNK, 0, desc, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemSetAccess(at + CHUNK, 2 * CHUNK, desc, 2), CUDA_ERROR_INVALID_DEVICE);
	EQ(access_of(at + CHUNK, 0), CU_MEM_ACCESS_FLAGS_PROT_NONE);
	EXPECT(allow(at + CHUNK, 2 * CHUNK, 0, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAccess(NULL, &here, at + CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAccess(&flags, NULL, at + CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAccess(&flags, &here, at), CUDA_ERROR_INVALID_VALUE);

	EXPECT(cuMemUnmap(at + CHUNK, CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemUnmap(at + 2 * CHUNK, CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemUnmap(at, 3 * CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemUnmap(at + CHUNK, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemUnmap(at + CHUNK, (size_t)-1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressFree(at, size), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemUnmap(at + CHUNK, 2 * CHUNK));
	EXPECT(cuMemUnmap(at + CHUNK, 2 * CHUNK), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemRelease(h));
	CHECK(cuMemRelease(other));
	EXPECT(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemMap(at, 2 * CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemGetAllocationPropertiesFromHandle(&prop, h), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressFree(at + CHUNK, size - CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressFree(at, size - CHUNK), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAddressFree(0, 0), CUDA_ERROR_INVALID_VALUE);
	EQ(free_memory(), before);
}

// copies refuse memory that is not mapped or not accessible.
static void copies(CUdeviceptr at) {
	CUstream s;
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	EXPECT(cuMemcpyHtoD(at, host, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoHAsync(host, at, 4, s), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32(at, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy(at, (CUdeviceptr)(uintptr_t)host, 4), CUDA_ERROR_INVALID_VALUE);
	CUmemGenericAllocationHandle h = create(0, CHUNK);
	CHECK(cuMemMap(at, CHUNK, 0, h, 0));
	EXPECT(cuMemcpyHtoD(at, host, 4), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at, 0, 256, 1, 256);
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	host[0] = 42;
	CHECK(cuMemcpyHtoD(at, host, 8));
	EXPECT(cuMemcpyHtoD(at + CHUNK - 4, host, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8(at, 0, CHUNK + 1), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at + CHUNK - 4, 0, 2, 1, 2);
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
	EQ(access_of(at + 5, 0), CU_MEM_ACCESS_FLAGS_PROT_READ);
	EXPECT(cuMemcpyHtoD(at, host, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD32Async(at, 0, 1, s), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoD(at + 8, at, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuStreamWriteValue32(s, at, 1, 0), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at, 0, 256, 1, 256);
	CHECK(cuStreamWaitValue32(s, at, 42, CU_STREAM_WAIT_VALUE_EQ));
	CHECK(cuMemcpyDtoHAsync(host + 1, at, 4, s));
	CHECK(cuStreamSynchronize(s));
	EQ(host[1], 42);
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
	EXPECT(cuMemcpyDtoH(host, at, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemUnmap(at, CHUNK));
	EXPECT(cuMemcpyDtoH(host, at, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemRelease(h));
	CHECK(cuStreamDestroy(s));
}

// boundaries are crossed by kernels, copies and fills, also where access differs, but not into what
// is not mapped.
static void boundaries(CUdeviceptr at, CUfunction count) {
	unsigned n = 3 * CHUNK / 4, edge = CHUNK / 4;
	CUdeviceptr plain;
	for (int i = 0; i < 3; i++)
		map_new(at + i * CHUNK, CHUNK, 0);
	CHECK(cuMemsetD32(at, 7, n));
	count_words(count, at + 4, n - 1); // rows of 32 words cross the boundaries
	CHECK(cuMemcpyDtoH(host, at, 3 * CHUNK));
	EQ(host[0], 7);
	for (unsigned i = 1; i < n; i++)
		EQ(host[i], 7 + i - 1);
	CHECK(cuMemAlloc(&plain, 64));
	CHECK(cuMemcpyDtoD(plain, at + CHUNK - 32, 64));
	CHECK(cuMemcpyDtoD(at + 2 * CHUNK - 32, plain, 64));
	CHECK(cuMemcpyDtoH(host, at + 2 * CHUNK - 32, 64));
	for (unsigned i = 0; i < 16; i++)
		EQ(host[i], 7 + edge - 8 + i - 1);
	CHECK(allow(at + CHUNK, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
	CHECK(cuMemcpyDtoH(host, at, 3 * CHUNK)); // may be read across
	EXPECT(cuMemcpyHtoD(at, host, CHUNK + 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemcpyHtoD(at, host, CHUNK));
	CHECK(cuMemcpyHtoD(at + 2 * CHUNK, host, CHUNK));
	count_words(count, at, edge);
	faulty("count", at, 0, edge + 1, edge / 256 + 1, 256);
	CHECK(allow(at, 3 * CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	CHECK(cuMemUnmap(at + CHUNK, CHUNK));
	EXPECT(cuMemcpyDtoH(host, at, 3 * CHUNK), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at, 0, n, n / 256, 256);
	CHECK(cuMemcpyDtoH(host, at + 2 * CHUNK, CHUNK));
	map_new(at + CHUNK, CHUNK, 0);
	CHECK(cuMemcpyDtoH(host, at, 3 * CHUNK));
	EQ(host[edge], 0); // new memory
	CHECK(cuMemUnmap(at, 3 * CHUNK)); // whole mappings, one behind the other
	CHECK(cuMemFree(plain));
}

// aliases are one memory with two addresses.
static void aliases(CUdeviceptr at, CUfunction count) {
	CUmemGenericAllocationHandle h = create(0, CHUNK), again;
	CUfunction through = kernel("through");
	CUdeviceptr b = at + 2 * CHUNK;
	unsigned n = 65536;
	void *params[] = {&at, &b, &n};
	size_t before = free_memory();
	CHECK(cuMemMap(at, CHUNK, 0, h, 0));
	CHECK(cuMemMap(b, CHUNK, 0, h, 0));
	EQ(free_memory(), before);
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	EXPECT(cuMemcpyDtoH(host, b, 4), CUDA_ERROR_INVALID_VALUE); // access is a mapping's
	CHECK(allow(b, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	for (int round = 0; round < 6; round++) { // the same launches on other bytes
		CHECK(cuMemsetD32(at, round, n));
		count_words(count, b, n);
		count_words(count, at, n);
		CHECK(cuMemcpyDtoH(host, b, 4 * n));
		for (unsigned i = 0; i < n; i++)
			EQ(host[i], round + 2 * i);
	}
	for (int round = 0; round < 3; round++) {
		CHECK(cuMemsetD32(b, 0, 2 * n));
		CHECK(cuLaunchKernel(through, n / 256, 1, 1, 256, 1, 1, 0, 0, params, NULL));
		CHECK(cuMemcpyDtoH(host, b, 8 * n));
		for (unsigned i = 256; i < n; i++)
			EQ(host[n + i], i - 256 + 1);
	}
	CHECK(cuMemRelease(h));
	EXPECT(cuMemMap(at + CHUNK, CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemUnmap(at, CHUNK));
	EQ(free_memory(), before);
	CHECK(cuMemcpyDtoH(host, b, 4));
	EQ(host[0], 1);
	CHECK(cuMemRetainAllocationHandle(&again, (void *)(b + 77)));
	EQ(again, h);
	CHECK(cuMemUnmap(b, CHUNK));
	EQ(free_memory(), before);
	CHECK(cuMemMap(at, CHUNK, 0, again, 0));
	CHECK(cuMemRetainAllocationHandle(&h, (void *)at));
	CHECK(cuMemRelease(again));
	CHECK(cuMemRelease(again));
	EXPECT(cuMemRelease(again), CUDA_ERROR_INVALID_VALUE);
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
	CHECK(cuMemcpyDtoH(host, at, 4)); // the memory was there all the time
	EQ(host[0], 1);
	CHECK(cuMemUnmap(at, CHUNK));
	EQ(free_memory(), before + CHUNK);
	EXPECT(cuMemRetainAllocationHandle(&h, (void *)at), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemRetainAllocationHandle(&h, host), CUDA_ERROR_INVALID_VALUE);
}

// pointers checks the attributes of reserved addresses.
static void pointers(CUdeviceptr at, size_t size) {
	CUdeviceptr p;
	CUcontext context = (CUcontext)&p;
	CUmemorytype type;
	unsigned mapped = 7, ordinal = 7, flags = 7, managed = 0;
	size_t n;
	CUmemAllocationProp prop;
	CUmemGenericAllocationHandle h;
	CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	void *data[] = {&type, &n, &ordinal};
	mapped = 0;
	CHECK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, at));
	EQ(mapped, 0);
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuPointerGetAttributes(3, list, data, at));
	EQ(type, 0);
	EQ(n, size);
	EQ((int)ordinal, CU_DEVICE_INVALID);
	EXPECT(cuMemGetAddressRange(&p, &n, at), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
	map_new(at + CHUNK, CHUNK, 0);
	p = at + CHUNK + 100;
	CHECK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, p));
	EQ(mapped, 1);
	CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	EQ(type, CU_MEMORYTYPE_DEVICE);
	CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
	EQ(ordinal, 0);
	CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
	EQ(managed, 0);
	CHECK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	TRUE(context == NULL);
	CHECK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p));
	EQ(flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
	CHECK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
	EQ(n, size);
	CHECK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, p));
	EQ(n, CHUNK);
	CHECK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p));
	EQ(n, at + CHUNK);
	CHECK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p));
	EQ(n, at);
	CHECK(cuMemGetAddressRange(&p, &n, p));
	EQ(p, at + CHUNK);
	EQ(n, CHUNK);
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeAsync(p, 0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemRetainAllocationHandle(&h, (void *)p));
	CHECK(cuMemGetAllocationPropertiesFromHandle(&prop, h));
	EQ(prop.type, CU_MEM_ALLOCATION_TYPE_PINNED);
	EQ(prop.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
	EQ(prop.location.id, 0);
	EXPECT(cuMemGetAllocationPropertiesFromHandle(NULL, h), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemRelease(h));
	CHECK(cuMemUnmap(p, n));
}

// contexts come and go; what is mapped stays.
static void contexts(CUdeviceptr at) {
	CUcontext first, own;
	map_new(at, CHUNK, 0);
	CHECK(cuMemsetD32(at, 5, 4));
	CHECK(cuCtxGetCurrent(&first));
	CHECK(cuCtxCreate(&own, 0, 0));
	CHECK(cuMemsetD32(at + 4, 6, 1));
	count_words(kernel("count"), at, 4);
	CHECK(cuCtxDestroy(own));
	CHECK(cuCtxSetCurrent(first));
	CHECK(cuMemcpyDtoH(host, at, 16));
	EQ(host[0], 5);
	EQ(host[1], 7);
	EQ(host[3], 8);
	CHECK(cuMemUnmap(at, CHUNK));
}

// waits: work that was enqueued before memory is unmapped has it.
static void waits(CUdeviceptr at, CUfunction count) {
	CUmemGenericAllocationHandle h = create(0, CHUNK);
	CHECK(cuMemMap(at, CHUNK, 0, h, 0));
	CHECK(allow(at, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	CHECK(cuMemsetD32Async(at, 1, CHUNK / 4, 0));
	count_words(count, at, CHUNK / 4);
	CHECK(cuMemUnmap(at, CHUNK));
	CHECK(cuMemMap(at + CHUNK, CHUNK, 0, h, 0));
	CHECK(allow(at + CHUNK, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	CHECK(cuMemcpyDtoH(host, at + CHUNK, CHUNK));
	EQ(host[CHUNK / 4 - 1], CHUNK / 4);
	CHECK(cuMemUnmap(at + CHUNK, CHUNK));
	CHECK(cuMemRelease(h));
}

// graphs refer to addresses, whatever is mapped there when they run.
static void graphs(CUdeviceptr at) {
	CUstream s;
	CUgraph graph;
	CUgraphExec exec;
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	map_new(at, CHUNK, 0);
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	CHECK(cuMemsetD32Async(at, 9, 4, s));
	CHECK(cuStreamEndCapture(s, &graph));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuMemUnmap(at, CHUNK));
	map_new(at, CHUNK, 0);
	CHECK(cuGraphLaunch(exec, s));
	CHECK(cuStreamSynchronize(s));
	CHECK(cuMemcpyDtoH(host, at, 20));
	EQ(host[3], 9);
	EQ(host[4], 0);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuStreamDestroy(s));
	CHECK(cuMemUnmap(at, CHUNK));
}

int main(void) {
	size_t granularity, size = 16 * CHUNK, before;
	int supported = 0;
	CUdeviceptr at, aligned;
	CUmemAllocationProp prop = on_gpu(0);
	EXPECT(cuMemAddressReserve(&at, CHUNK, 0, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
	open_device();
	CUfunction count = kernel("count");
	CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0));
	EQ(supported, 1);
	CHECK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	EQ(granularity, CHUNK);
	CHECK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	EQ(granularity, CHUNK);
	before = free_memory();
	CHECK(cuMemAddressReserve(&at, size, 0, 0, 0));
	CHECK(cuMemAddressReserve(&aligned, 4096, (size_t)1 << 30, at + size, 0));
	EQ(at % CHUNK, 0);
	EQ(aligned % ((size_t)1 << 30), 0);
	TRUE(aligned >= at + size || aligned + 4096 <= at);
	EQ(free_memory(), before);
	errors(at, size);
	copies(at);
	boundaries(at, count);
	aliases(at, count);
	pointers(at, size);
	contexts(at);
	waits(at, count);
	graphs(at);
	CHECK(cuMemAddressFree(aligned, 4096));
	CHECK(cuMemAddressFree(at, size));
	EXPECT(cuMemAddressFree(at, size), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyHtoD(at, host, 4), CUDA_ERROR_INVALID_VALUE);
	faulty("count", at, 0, 1, 1, 1);
	EQ(free_memory(), before);
	return 0;
}
