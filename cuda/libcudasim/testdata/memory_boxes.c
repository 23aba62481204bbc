// also with the per-thread default stream
// Copies in two and three dimensions move the bytes that loops move, between all kinds
// of memory.
#include "check.h"

#define SIZE 20000

enum { HOST, PINNED, DEVICE, MANAGED, KINDS };

static unsigned char want[KINDS][SIZE], scratch[SIZE];
static unsigned char *host[KINDS]; // of memory that the host reaches
static CUdeviceptr address[KINDS];
static unsigned state = 1;

static unsigned draw(unsigned most) {
	state = state * 1664525 + 1013904223;
	return (state >> 8) % most;
}

static void compare(int kind) {
	const unsigned char *have = host[kind];
	if (!have) {
		CHECK(cuMemcpyDtoH(scratch, address[kind], SIZE));
		have = scratch;
	}
	TRUE(memcmp(have, want[kind], SIZE) == 0);
}

static void load(int kind) {
	for (int i = 0; i < SIZE; i++)
		want[kind][i] = (unsigned char)draw(256);
	if (host[kind])
		memcpy(host[kind], want[kind], SIZE);
	else
		CHECK(cuMemcpyHtoD(address[kind], want[kind], SIZE));
}

static CUmemorytype type_of(int kind) {
	if (kind == DEVICE && draw(2))
		return CU_MEMORYTYPE_DEVICE;
	if (kind < DEVICE && draw(2))
		return CU_MEMORYTYPE_HOST;
	return kind == HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
}

static void round_3d(int from, int to, CUstream stream) {
	CUDA_MEMCPY3D p = {0};
	size_t w = 1 + draw(20), h = 1 + draw(6), d = 1 + draw(4);
	p.srcXInBytes = draw(4), p.srcY = draw(3), p.srcZ = draw(3);
	p.dstXInBytes = draw(4), p.dstY = draw(3), p.dstZ = draw(3);
	p.srcPitch = p.srcXInBytes + w + draw(8), p.srcHeight = p.srcY + h + draw(3);
	p.dstPitch = p.dstXInBytes + w + draw(8), p.dstHeight = p.dstY + h + draw(3);
	p.srcMemoryType = type_of(from), p.srcHost = host[from], p.srcDevice = address[from];
	p.dstMemoryType = type_of(to), p.dstHost = host[to], p.dstDevice = address[to];
	p.WidthInBytes = w, p.Height = h, p.Depth = d;
	load(from);
	for (size_t z = 0; z < d; z++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				want[to][((p.dstZ + z) * p.dstHeight + p.dstY + y) * p.dstPitch + p.dstXInBytes + x] =
					want[from][((p.srcZ + z) * p.srcHeight + p.srcY + y) * p.srcPitch + p.srcXInBytes + x];
	if (stream) {
		CHECK(cuMemcpy3DAsync(&p, stream));
		CHECK(cuStreamSynchronize(stream));
	} else {
		CHECK(cuMemcpy3D(&p));
		CHECK(cuCtxSynchronize());
	}
	compare(to);
}

static void round_2d(int from, int to) {
	CUDA_MEMCPY2D p = {0};
	size_t w = 1 + draw(40), h = 1 + draw(20);
	p.srcXInBytes = draw(9), p.srcY = draw(4), p.dstXInBytes = draw(9), p.dstY = draw(4);
	p.srcPitch = p.srcXInBytes + w + draw(30), p.dstPitch = p.dstXInBytes + w + draw(30);
	p.srcMemoryType = type_of(from), p.srcHost = host[from], p.srcDevice = address[from];
	p.dstMemoryType = type_of(to), p.dstHost = host[to], p.dstDevice = address[to];
	p.WidthInBytes = w, p.Height = h;
	load(from);
	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			want[to][(p.dstY + y) * p.dstPitch + p.dstXInBytes + x] = want[from][(p.srcY + y) * p.srcPitch + p.srcXInBytes + x];
	CHECK(cuMemcpy2DUnaligned(&p));
	CHECK(cuCtxSynchronize());
	compare(to);
}

// A matrix in memory with the driver's own pitch.
static void pitched(void) {
	CUdeviceptr m;
	size_t pitch;
	static float there[37][53], back[37][53];
	CUDA_MEMCPY2D p = {0};
	for (int y = 0; y < 37; y++)
		for (int x = 0; x < 53; x++)
			there[y][x] = (float)(100 * y + x);
	CHECK(cuMemAllocPitch(&m, &pitch, sizeof there[0], 37, 4));
	TRUE(pitch >= sizeof there[0] && pitch % 4 == 0);
	p.srcMemoryType = CU_MEMORYTYPE_HOST, p.srcHost = there, p.srcPitch = sizeof there[0];
	p.dstMemoryType = CU_MEMORYTYPE_DEVICE, p.dstDevice = m, p.dstPitch = pitch;
	p.WidthInBytes = sizeof there[0], p.Height = 37;
	CHECK(cuMemcpy2D(&p));
	CHECK(cuMemcpyDtoH(back[0], m + 5 * pitch, sizeof back[0]));
	TRUE(memcmp(there[5], back[0], sizeof back[0]) == 0);
	p.srcMemoryType = CU_MEMORYTYPE_DEVICE, p.srcDevice = m, p.srcPitch = pitch;
	p.dstMemoryType = CU_MEMORYTYPE_HOST, p.dstHost = back, p.dstPitch = sizeof back[0];
	CHECK(cuMemcpy2DAsync(&p, 0));
	CHECK(cuCtxSynchronize());
	TRUE(memcmp(there, back, sizeof back) == 0);
	CHECK(cuMemFree(m));
	EXPECT(cuMemAllocPitch(&m, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocPitch(&m, &pitch, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
}

static void refused(void) {
	CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host[HOST], .srcPitch = 100,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = address[DEVICE], .dstPitch = 100, .WidthInBytes = 100, .Height = 10}, p;
	CHECK(cuMemcpy2D(&good));
	p = good, p.srcPitch = 99;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.dstXInBytes = 1;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.dstPitch = (size_t)1 << 62;
	EXPECT(cuMemcpy2DUnaligned(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.Height = (size_t)1 << 58;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.dstDevice = 0;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.srcHost = NULL;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	p = good, p.srcMemoryType = (CUmemorytype)9;
	EXPECT(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
	p = good, p.Height = 0;
	CHECK(cuMemcpy2D(&p));
}

int main(void) {
	CUstream stream;
	open_device();
	host[HOST] = malloc(SIZE);
	CHECK(cuMemAllocHost((void **)&host[PINNED], SIZE));
	CHECK(cuMemAllocManaged(&address[MANAGED], SIZE, CU_MEM_ATTACH_GLOBAL));
	CHECK(cuMemAlloc(&address[DEVICE], SIZE));
	CHECK(cuMemsetD8(address[DEVICE], 0, SIZE));
	CHECK(cuMemsetD8(address[MANAGED], 0, SIZE));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	host[MANAGED] = (unsigned char *)address[MANAGED];
	address[PINNED] = (CUdeviceptr)host[PINNED];
	memset(host[HOST], 0, SIZE);
	memset(host[PINNED], 0, SIZE);
	CHECK(cuCtxSynchronize());
	for (int i = 0; i < 100; i++)
		for (int from = 0; from < KINDS; from++) {
			int to = (from + 1 + (int)draw(KINDS - 1)) % KINDS;
			round_3d(from, to, i % 2 ? stream : 0);
			round_2d(from, to);
		}
	pitched();
	refused();
	return 0;
}
