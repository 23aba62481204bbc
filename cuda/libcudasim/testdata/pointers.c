// Attributes of addresses, and memory that several contexts share.
#include "check.h"

static CUcontext context_of(CUdeviceptr p) {
	CUcontext c;
	CHECK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	return c;
}

static int type_of(CUdeviceptr p) {
	CUmemorytype t;
	CHECK(cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	return t;
}

static int managed(CUdeviceptr p) {
	unsigned is = 0;
	CHECK(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
	return is != 0;
}

int main(void) {
	CUcontext first = open_device(), second;
	CUdevice device;
	CUdeviceptr a, b, m, base;
	void *pinned, *where;
	size_t size, free_before, free_after, total;
	unsigned long long id_a, id_b;
	int on_stack = 0, ordinal = 7;
	unsigned on = 1;
	CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_CONTEXT};
	CUmemorytype type = CU_MEMORYTYPE_ARRAY;
	void *data[] = {&type, &base, &second};
	CHECK(cuCtxGetDevice(&device));
	CHECK(cuMemAlloc(&a, 1000));
	CHECK(cuMemAllocHost(&pinned, 1000));
	CHECK(cuMemAllocManaged(&m, 1000, CU_MEM_ATTACH_GLOBAL));
	EQ(type_of(a + 10), CU_MEMORYTYPE_DEVICE);
	EQ(type_of((CUdeviceptr)pinned), CU_MEMORYTYPE_HOST);
	EQ(managed(a), 0);
	EQ(managed(m + 999), 1);
	TRUE(context_of(a) == first);
	TRUE(context_of((CUdeviceptr)pinned) == first);
	CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
	EQ(ordinal, device);
	CHECK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)pinned + 8));
	EQ(base, (CUdeviceptr)pinned + 8);
	CHECK(cuPointerGetAttribute(&where, CU_POINTER_ATTRIBUTE_HOST_POINTER, (CUdeviceptr)pinned + 8));
	TRUE(where == (char *)pinned + 8);
	EXPECT(cuPointerGetAttribute(&where, CU_POINTER_ATTRIBUTE_HOST_POINTER, a), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 999));
	EQ(base, a);
	CHECK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a + 999));
	EQ(size, 1000);
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&on_stack), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
	EXPECT(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuPointerGetAttributes(3, list, data, a + 1));
	EQ(type, CU_MEMORYTYPE_DEVICE);
	EQ(base, a + 1);
	TRUE(second == first);
	CHECK(cuPointerGetAttributes(3, list, data, (CUdeviceptr)&on_stack));
	EQ(type, 0);
	EQ(base, 0);
	TRUE(second == NULL);

	// Another context of the GPU has other addresses and the same memory.
	CHECK(cuMemGetInfo(&free_before, &total));
	CHECK(cuCtxCreate(&second, 0, device));
	CHECK(cuMemAlloc(&b, (size_t)1 << 30));
	TRUE(b >= a + 1000 || b + ((size_t)1 << 30) <= a);
	TRUE(context_of(b) == second);
	TRUE(context_of(a) == first);
	CHECK(cuMemGetInfo(&free_after, &total));
	TRUE(free_before - free_after >= (size_t)1 << 30);
	CHECK(cuPointerGetAttribute(&id_a, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
	CHECK(cuPointerGetAttribute(&id_b, CU_POINTER_ATTRIBUTE_BUFFER_ID, b));
	TRUE(id_a != id_b);
	CHECK(cuMemsetD8(b, 42, 1000));
	CHECK(cuMemcpyPeer(a, first, b, second, 1000));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpy((CUdeviceptr)pinned, a, 1000));
	EQ(((unsigned char *)pinned)[999], 42);
	CHECK(cuCtxDestroy(second));
	CHECK(cuCtxSetCurrent(first));
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, b), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(b), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemFree(a));
	CHECK(cuMemFree(m));
	CHECK(cuMemFreeHost(pinned));
	return 0;
}
