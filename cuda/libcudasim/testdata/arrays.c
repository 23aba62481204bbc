// Arrays of texels: what they are, copies into and out of them, and kernels that
// sample and store to them.
#include "check.h"

#define W 24
#define H 10

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	// dst[y * w + x] = the texture at (x + shift, y + shift)
	".visible .entry sample(.param .u64 dst, .param .u64 tex, .param .u32 w, .param .f32 shift) {\n"
	"	.reg .b32 %r<4>;\n	.reg .f32 %f<8>;\n	.reg .b64 %rd<5>;\n"
	"	ld.param.u64 %rd0, [dst];\n	ld.param.u64 %rd1, [tex];\n	ld.param.u32 %r0, [w];\n	ld.param.f32 %f6, [shift];\n"
	"	mov.u32 %r1, %tid.x;\n	mov.u32 %r2, %tid.y;\n	mad.lo.u32 %r3, %r2, %r0, %r1;\n"
	"	cvt.rn.f32.u32 %f0, %r1;\n	cvt.rn.f32.u32 %f1, %r2;\n	add.f32 %f0, %f0, %f6;\n	add.f32 %f1, %f1, %f6;\n"
	"	tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f0, %f1}];\n"
	"	mul.wide.u32 %rd2, %r3, 4;\n	add.s64 %rd3, %rd0, %rd2;\n	st.global.f32 [%rd3], %f2;\n	ret;\n}\n"
	// surf(x, y) = 100 * y + x
	".visible .entry paint(.param .u64 surf) {\n"
	"	.reg .b32 %r<5>;\n	.reg .b64 %rd<2>;\n"
	"	ld.param.u64 %rd0, [surf];\n	mov.u32 %r1, %tid.x;\n	mov.u32 %r2, %tid.y;\n"
	"	mad.lo.u32 %r3, %r2, 100, %r1;\n	shl.b32 %r4, %r1, 2;\n"
	"	sust.b.2d.b32.trap [%rd0, {%r4, %r2}], {%r3};\n	ret;\n}\n";

static CUmodule module;
static CUdeviceptr linear;

static void launch(const char *name, void **params) {
	CUfunction f;
	CHECK(cuModuleGetFunction(&f, module, name));
	CHECK(cuLaunchKernel(f, 1, 1, 1, W, H, 1, 0, 0, params, NULL));
	CHECK(cuCtxSynchronize());
}

static void descriptors(void) {
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 7, .Height = 5, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2}, got;
	CUDA_ARRAY3D_DESCRIPTOR d3 = {.Width = 8, .Height = 4, .Depth = 3, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4,
		.Flags = CUDA_ARRAY3D_LAYERED}, got3;
	CUarray a, b;
	CHECK(cuArrayCreate(&a, &d));
	CHECK(cuArrayGetDescriptor(&got, a));
	EQ(got.Width, 7);
	EQ(got.Height, 5);
	EQ(got.Format, CU_AD_FORMAT_HALF);
	EQ(got.NumChannels, 2);
	CHECK(cuArray3DGetDescriptor(&got3, a));
	EQ(got3.Depth, 0);
	CHECK(cuArray3DCreate(&b, &d3));
	CHECK(cuArray3DGetDescriptor(&got3, b));
	EQ(got3.Depth, 3);
	EQ(got3.Flags, CUDA_ARRAY3D_LAYERED);
	CHECK(cuArrayDestroy(a));
	CHECK(cuArrayDestroy(b));
	d.NumChannels = 3;
	EXPECT(cuArrayCreate(&a, &d), CUDA_ERROR_INVALID_VALUE);
	d.NumChannels = 1, d.Width = 0;
	EXPECT(cuArrayCreate(&a, &d), CUDA_ERROR_INVALID_VALUE);
	d3.Flags = CUDA_ARRAY3D_CUBEMAP;
	EXPECT(cuArray3DCreate(&a, &d3), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuArrayCreate(NULL, &d), CUDA_ERROR_INVALID_VALUE);
}

// A volume goes in by parts and comes out whole.
static void volume(void) {
	enum { X = 6, Y = 5, Z = 4 };
	static unsigned short there[Z][Y][X], back[Z][Y][X], part[2][2][3];
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = X, .Height = Y, .Depth = Z, .Format = CU_AD_FORMAT_UNSIGNED_INT16, .NumChannels = 1};
	CUDA_MEMCPY3D in = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = there, .srcPitch = 2 * X, .srcHeight = Y,
		.dstMemoryType = CU_MEMORYTYPE_ARRAY, .WidthInBytes = 2 * X, .Height = Y, .Depth = Z}, out, bad;
	CUarray a, b;
	for (int z = 0; z < Z; z++)
		for (int y = 0; y < Y; y++)
			for (int x = 0; x < X; x++)
				there[z][y][x] = (unsigned short)(100 * z + 10 * y + x);
	CHECK(cuArray3DCreate(&a, &d));
	CHECK(cuArray3DCreate(&b, &d));
	in.dstArray = a;
	CHECK(cuMemcpy3D(&in));
	out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .srcXInBytes = 4, .srcY = 3, .srcZ = 1,
		.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = part, .dstPitch = 6, .dstHeight = 2, .WidthInBytes = 6, .Height = 2, .Depth = 2};
	CHECK(cuMemcpy3D(&out));
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < 2; y++)
			for (int x = 0; x < 3; x++)
				EQ(part[z][y][x], 100 * (z + 1) + 10 * (y + 3) + x + 2);
	bad = out, bad.srcXInBytes = 3; // half a texel
	EXPECT(cuMemcpy3D(&bad), CUDA_ERROR_INVALID_VALUE);
	bad = out, bad.srcZ = 3;
	EXPECT(cuMemcpy3D(&bad), CUDA_ERROR_INVALID_VALUE);
	bad = out, bad.srcY = (size_t)-1;
	EXPECT(cuMemcpy3D(&bad), CUDA_ERROR_INVALID_VALUE);
	in = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = b,
		.WidthInBytes = 2 * X, .Height = Y, .Depth = Z};
	CHECK(cuMemcpy3D(&in));
	out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = b, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back,
		.dstPitch = 2 * X, .dstHeight = Y, .WidthInBytes = 2 * X, .Height = Y, .Depth = Z};
	CHECK(cuMemcpy3DAsync(&out, 0));
	CHECK(cuCtxSynchronize());
	TRUE(memcmp(there, back, sizeof there) == 0);
	CHECK(cuArrayDestroy(a));
	EXPECT(cuMemcpy3D(&in), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuArrayDestroy(b));
}

// One row, by copies without a pitch.
static void row(void) {
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 100, .Format = CU_AD_FORMAT_SIGNED_INT32, .NumChannels = 1};
	CUarray a, b;
	int there[100], back[100] = {0};
	for (int i = 0; i < 100; i++)
		there[i] = 3 * i;
	CHECK(cuArrayCreate(&a, &d));
	CHECK(cuArrayCreate(&b, &d));
	CHECK(cuMemcpyHtoA(a, 0, there, sizeof there));
	CHECK(cuMemcpyAtoA(b, 40, a, 80, 240));
	CHECK(cuMemcpyAtoD(linear, b, 40, 240));
	CHECK(cuMemcpyDtoA(b, 0, linear + 200, 40));
	CHECK(cuMemcpyAtoH(back, b, 0, 280));
	for (int i = 0; i < 70; i++)
		EQ(back[i], 3 * (i < 10 ? i + 70 : i + 10));
	EXPECT(cuMemcpyHtoA(a, 4, there, sizeof there), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyAtoH(back, a, 400, 4), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuArrayDestroy(a));
	CHECK(cuArrayDestroy(b));
}

static void textures(void) {
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = W, .Height = H, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	static float there[H][W], back[H][W];
	CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY}, got;
	CUDA_TEXTURE_DESC t = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}}, got_t;
	CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = there, .srcPitch = 4 * W,
		.dstMemoryType = CU_MEMORYTYPE_ARRAY, .WidthInBytes = 4 * W, .Height = H};
	CUtexObject tex, smooth;
	CUarray a;
	unsigned w = W;
	float shift = 0.5f;
	void *params[] = {&linear, &tex, &w, &shift};
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			there[y][x] = (float)(50 * y + x);
	CHECK(cuArray3DCreate(&a, &d));
	in.dstArray = a, r.res.array.hArray = a;
	CHECK(cuMemcpy2D(&in));
	CHECK(cuTexObjectCreate(&tex, &r, &t, NULL));
	launch("sample", params);
	CHECK(cuMemcpyDtoH(back, linear, sizeof back));
	TRUE(memcmp(there, back, sizeof back) == 0);
	t.filterMode = CU_TR_FILTER_MODE_LINEAR;
	CHECK(cuTexObjectCreate(&smooth, &r, &t, NULL));
	params[1] = &smooth, shift = 1;
	launch("sample", params);
	CHECK(cuMemcpyDtoH(back, linear, sizeof back));
	for (int y = 0; y < H - 1; y++)
		for (int x = 0; x < W - 1; x++)
			TRUE(fabsf(back[y][x] - (there[y][x] + there[y][x + 1] + there[y + 1][x] + there[y + 1][x + 1]) / 4) < 0.01f);
	CHECK(cuTexObjectGetResourceDesc(&got, smooth));
	TRUE(got.resType == CU_RESOURCE_TYPE_ARRAY && got.res.array.hArray == a);
	CHECK(cuTexObjectGetTextureDesc(&got_t, smooth));
	EQ(got_t.filterMode, CU_TR_FILTER_MODE_LINEAR);
	CHECK(cuTexObjectDestroy(smooth));
	EXPECT(cuTexObjectGetTextureDesc(&got_t, smooth), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuTexObjectCreate(&smooth, NULL, &t, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuTexObjectDestroy(tex));
	CHECK(cuArrayDestroy(a));
}

// A texture over linear memory.
static void pitched(void) {
	static float there[H][W], back[H][W];
	CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_PITCH2D};
	CUDA_TEXTURE_DESC t = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
	CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = there, .srcPitch = 4 * W,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .WidthInBytes = 4 * W, .Height = H};
	CUdeviceptr m;
	CUtexObject tex;
	unsigned w = W;
	float shift = 0.5f;
	void *params[] = {&linear, &tex, &w, &shift};
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			there[y][x] = (float)(7 * y - x);
	CHECK(cuMemAllocPitch(&m, &in.dstPitch, 4 * W, H, 4));
	in.dstDevice = m;
	CHECK(cuMemcpy2D(&in));
	r.res.pitch2D.devPtr = m, r.res.pitch2D.format = CU_AD_FORMAT_FLOAT, r.res.pitch2D.numChannels = 1;
	r.res.pitch2D.width = W, r.res.pitch2D.height = H, r.res.pitch2D.pitchInBytes = in.dstPitch;
	CHECK(cuTexObjectCreate(&tex, &r, &t, NULL));
	launch("sample", params);
	CHECK(cuMemcpyDtoH(back, linear, sizeof back));
	TRUE(memcmp(there, back, sizeof back) == 0);
	CHECK(cuTexObjectDestroy(tex));
	CHECK(cuMemFree(m));
}

static void surface(void) {
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = W, .Height = H, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
	CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstPitch = 4 * W, .WidthInBytes = 4 * W, .Height = H};
	static unsigned back[H][W];
	CUsurfObject s;
	CUarray a, plain;
	void *params[] = {&s};
	CHECK(cuArray3DCreate(&a, &d));
	r.res.array.hArray = a;
	CHECK(cuSurfObjectCreate(&s, &r));
	launch("paint", params);
	out.srcArray = a, out.dstHost = back;
	CHECK(cuMemcpy2D(&out));
	for (unsigned y = 0; y < H; y++)
		for (unsigned x = 0; x < W; x++)
			EQ(back[y][x], 100 * y + x);
	CHECK(cuSurfObjectDestroy(s));
	CHECK(cuArrayDestroy(a));
	d.Flags = 0;
	CHECK(cuArray3DCreate(&plain, &d));
	r.res.array.hArray = plain;
	EXPECT(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuArrayDestroy(plain));
}

int main(void) {
	open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuMemAlloc(&linear, 4 * W * H));
	descriptors();
	volume();
	row();
	textures();
	pitched();
	surface();
	CHECK(cuMemFree(linear));
	return 0;
}
