// Two allocators that live on virtual memory management: segments that expand, as PyTorch has them,
// and a vector that grows in place or moves its mappings.
#include "virtual.h"

// segment maps chunks of one size in a reservation that could hold all memory of the GPU, as they
// are asked for.
struct segment {
	CUdeviceptr at;
	size_t reserved, chunk, chunks;
	CUmemGenericAllocationHandle handles[64];
};

static void expand(struct segment *s, size_t bytes) {
	size_t want = (bytes + s->chunk - 1) / s->chunk, first = s->chunks;
	for (; s->chunks < want; s->chunks++) {
		s->handles[s->chunks] = create(0, s->chunk);
		CHECK(cuMemMap(s->at + s->chunks * s->chunk, s->chunk, 0, s->handles[s->chunks], 0));
	}
	if (want > first)
		CHECK(allow(s->at + first * s->chunk, (want - first) * s->chunk, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

static void shrink(struct segment *s, size_t chunks) {
	for (; s->chunks > chunks; s->chunks--) {
		CHECK(cuMemUnmap(s->at + (s->chunks - 1) * s->chunk, s->chunk));
		CHECK(cuMemRelease(s->handles[s->chunks - 1]));
	}
}

static unsigned host[6 * 10 * CHUNK / 4];

static void segments(size_t chunk) {
	struct segment s = {.chunk = chunk};
	CUfunction count = kernel("count");
	CUdeviceptr fixed;
	size_t total, before = free_memory();
	CHECK(cuDeviceTotalMem(&total, 0));
	s.reserved = total / 8 * 9 / CHUNK * CHUNK;
	CHECK(cuMemAddressReserve(&s.at, s.reserved, 0, 0, 0));
	CHECK(cuMemAlloc(&fixed, 1000));
	for (int round = 0; round < 2; round++) {
		for (size_t bytes = chunk / 2; bytes <= 5 * chunk; bytes += chunk) {
			expand(&s, bytes);
			CHECK(cuMemsetD32Async(s.at, 3, bytes / 4, 0));
			count_words(count, s.at, bytes / 4);
			CHECK(cuMemcpyDtoH(host, s.at, bytes));
			for (size_t i = 0; i < bytes / 4; i++)
				EQ(host[i], 3 + i);
		}
		EQ(before - free_memory(), 5 * chunk + 1000);
		shrink(&s, 2);
		EXPECT(cuMemsetD8(s.at, 0, 2 * chunk + 1), CUDA_ERROR_INVALID_VALUE);
		CHECK(cuMemsetD8(s.at, 0, 2 * chunk));
	}
	shrink(&s, 0);
	CHECK(cuMemFree(fixed));
	CHECK(cuMemAddressFree(s.at, s.reserved));
	EQ(free_memory(), before);
}

// all maps all of the GPU's memory, and no more.
static void all(void) {
	size_t f = free_memory() / CHUNK * CHUNK;
	CUdeviceptr at;
	CUmemGenericAllocationHandle h;
	CUmemAllocationProp prop = on_gpu(0);
	unsigned last = 0;
	CHECK(cuMemAddressReserve(&at, f, 0, 0, 0));
	map_new(at, f, 0);
	EXPECT(cuMemCreate(&h, CHUNK, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
	CHECK(cuMemsetD32(at + f - 4, 77, 1));
	CHECK(cuMemcpyDtoH(&last, at + f - 4, 4));
	EQ(last, 77);
	CHECK(cuMemUnmap(at, f));
	CHECK(cuMemAddressFree(at, f));
}

// vector grows by mapping memory after its end. If no addresses are free there, it moves its mappings.
struct vector {
	CUdeviceptr at;
	size_t reserved, size;
	CUmemGenericAllocationHandle handles[16];
	size_t sizes[16];
	int count;
};

static void reserve(struct vector *v, size_t bytes) {
	CUdeviceptr at = 0;
	if (bytes <= v->reserved)
		return;
	CHECK(cuMemAddressReserve(&at, bytes - v->reserved, 0, v->at + v->reserved, 0));
	if (v->at && at == v->at + v->reserved) {
		v->reserved = bytes;
		return;
	}
	CHECK(cuMemAddressFree(at, bytes - v->reserved));
	CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	if (v->at) {
		CHECK(cuMemUnmap(v->at, v->size));
		size_t off = 0;
		for (int i = 0; i < v->count; off += v->sizes[i++])
			CHECK(cuMemMap(at + off, v->sizes[i], 0, v->handles[i], 0));
		CHECK(allow(at, v->size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
		CHECK(cuMemAddressFree(v->at, v->reserved));
	}
	v->at = at;
	v->reserved = bytes;
}

static void grow(struct vector *v, size_t bytes) {
	reserve(v, bytes);
	size_t more = bytes - v->size;
	v->handles[v->count] = create(0, more);
	v->sizes[v->count] = more;
	CHECK(cuMemMap(v->at + v->size, more, 0, v->handles[v->count++], 0));
	CHECK(allow(v->at + v->size, more, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
	v->size = bytes;
}

static void vectors(void) {
	struct vector v = {0};
	size_t before = free_memory(), filled = 0;
	for (size_t bytes = CHUNK; bytes <= 8 * CHUNK; bytes += CHUNK * (bytes / CHUNK)) {
		grow(&v, bytes);
		for (size_t i = filled / 4; i < bytes / 4; i++)
			host[i] = 3 * i;
		CHECK(cuMemcpyHtoD(v.at + filled, host + filled / 4, bytes - filled));
		filled = bytes;
		memset(host, 0, bytes);
		CHECK(cuMemcpyDtoH(host, v.at, bytes));
		for (size_t i = 0; i < bytes / 4; i++)
			EQ(host[i], 3 * i);
		EQ(before - free_memory(), bytes);
	}
	CHECK(cuMemUnmap(v.at, v.size));
	for (int i = 0; i < v.count; i++)
		CHECK(cuMemRelease(v.handles[i]));
	CHECK(cuMemAddressFree(v.at, v.reserved));
	EQ(free_memory(), before);
}

int main(void) {
	open_device();
	segments(CHUNK);
	segments(10 * CHUNK);
	all();
	vectors();
	return 0;
}
