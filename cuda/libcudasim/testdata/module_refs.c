// Texture and surface references that a module declares.
#include "check.h"

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".global .texref tex;\n.global .texref other;\n.global .surfref surf;\n.global .u32 plain;\n"
	".visible .entry row(.param .u64 p) {\n"
	".reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<8>;\n"
	"ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
	"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1}];\n"
	"st.global.f32 [%rd1], %f1; ret; }\n"
	".visible .entry grid(.param .u64 p) {\n" // the same, by the address of the reference
	".reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .f32 %f<8>;\n"
	"ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1;\n"
	"mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n"
	"cvt.rn.f32.u32 %f5, %r1; cvt.rn.f32.u32 %f6, %r2; mov.u64 %rd3, tex;\n"
	"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd3, {%f5, %f6}];\n"
	"st.global.f32 [%rd1], %f1; ret; }\n"
	".visible .entry store() {\n"
	".reg .b32 %r<8>; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; shl.b32 %r3, %r1, 2;\n"
	"shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r1; add.u32 %r4, %r4, 1065353216;\n"
	"sust.b.2d.b32.trap [surf, {%r3, %r2}], {%r4}; ret; }\n";

static CUdeviceptr out;

static void launch(CUfunction f, unsigned x, unsigned y) {
	void *params[] = {&out};
	CHECK(cuLaunchKernel(f, 1, 1, 1, x, y, 1, 0, NULL, params, NULL));
}

static void holds(size_t n, float first) {
	float have[16];
	CHECK(cuMemcpyDtoH(have, out, sizeof have));
	for (size_t i = 0; i < n; i++)
		EQ(have[i] * 8, (first + i) * 8);
}

int main(void) {
	CUmodule m;
	CUfunction row, grid, store;
	CUtexref tex, again, other;
	CUsurfref surf;
	CUarray array, got;
	CUdeviceptr a, b, c;
	size_t offset;
	float up[16], down[16];
	unsigned char bytes[8] = {0, 51, 102, 153, 204, 255, 0, 0};
	open_device();
	CHECK(cuModuleLoadData(&m, ptx));
	CHECK(cuModuleGetFunction(&row, m, "row"));
	CHECK(cuModuleGetFunction(&grid, m, "grid"));
	CHECK(cuModuleGetFunction(&store, m, "store"));
	CHECK(cuMemAlloc(&out, 64));
	CHECK(cuMemAlloc(&a, 64));
	CHECK(cuMemAlloc(&b, 64));
	CHECK(cuMemAlloc(&c, 64));
	for (int i = 0; i < 16; i++)
		up[i] = 1 + i, down[i] = 101 + i;
	CHECK(cuMemcpyHtoD(a, up, sizeof up));
	CHECK(cuMemcpyHtoD(b, down, sizeof down));
	CHECK(cuMemcpyHtoD(c, bytes, sizeof bytes));

	CHECK(cuModuleGetTexRef(&tex, m, "tex"));
	CHECK(cuModuleGetTexRef(&again, m, "tex"));
	TRUE(tex == again);
	CHECK(cuModuleGetTexRef(&other, m, "other"));
	TRUE(tex != other);
	EXPECT(cuModuleGetTexRef(&again, m, "surf"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetTexRef(&again, m, "plain"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetTexRef(&again, m, "absent"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuModuleGetTexRef(NULL, m, "tex"), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuModuleGetTexRef(&again, (CUmodule)0x10, "tex"), CUDA_ERROR_INVALID_HANDLE);
	EXPECT(cuModuleGetSurfRef(&surf, m, "tex"), CUDA_ERROR_NOT_FOUND);
	EXPECT(cuTexRefDestroy(tex), CUDA_ERROR_INVALID_VALUE); // it is the module's
	EXPECT(cuParamSetTexRef(row, 0, tex), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuParamSetTexRef(row, CU_PARAM_TR_DEFAULT, tex));

	// Linear memory; what is bound at the launch is what the launch samples.
	CHECK(cuTexRefSetFormat(tex, CU_AD_FORMAT_FLOAT, 1));
	CHECK(cuTexRefSetAddress(&offset, tex, a, sizeof up));
	EQ(offset, 0);
	launch(row, 16, 1);
	CHECK(cuTexRefSetAddress(&offset, tex, b, sizeof down));
	holds(16, 1);
	launch(row, 16, 1);
	holds(16, 101);
	CHECK(cuMemsetD32(b, 0x42c80000, 1)); // 100: the content changes, the reference does not
	launch(row, 1, 1);
	holds(1, 100);

	// Bytes that are read as numbers up to 1.
	CHECK(cuTexRefSetFormat(tex, CU_AD_FORMAT_UNSIGNED_INT8, 1));
	CHECK(cuTexRefSetAddress(&offset, tex, c, 8));
	launch(row, 6, 1);
	CHECK(cuMemcpyDtoH(down, out, sizeof down));
	for (int i = 0; i < 6; i++)
		TRUE(fabsf(down[i] - 0.2f * i) < 1e-6f);

	// An array, with filters and borders, by texture and by surface.
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 4, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	CHECK(cuArray3DCreate(&array, &d));
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = up, .srcPitch = 16, .dstMemoryType = CU_MEMORYTYPE_ARRAY,
		.dstArray = array, .WidthInBytes = 16, .Height = 4};
	CHECK(cuMemcpy2D(&copy));
	CHECK(cuTexRefSetArray(tex, array, CU_TRSA_OVERRIDE_FORMAT));
	CHECK(cuTexRefSetFilterMode(tex, CU_TR_FILTER_MODE_POINT));
	launch(grid, 4, 4);
	holds(16, 1);
	CHECK(cuTexRefSetFilterMode(tex, CU_TR_FILTER_MODE_LINEAR));
	launch(grid, 4, 4);
	CHECK(cuMemcpyDtoH(down, out, sizeof down));
	EQ(down[5] * 2, 2 * 3.5f); // between four texels
	CHECK(cuTexRefSetFilterMode(tex, CU_TR_FILTER_MODE_POINT));
	CHECK(cuModuleGetSurfRef(&surf, m, "surf"));
	EXPECT(cuSurfRefGetArray(&got, surf), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuSurfRefSetArray(surf, array, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuSurfRefSetArray((CUsurfref)0x10, array, 0), CUDA_ERROR_INVALID_HANDLE);
	CHECK(cuSurfRefSetArray(surf, array, 0));
	CHECK(cuSurfRefGetArray(&got, surf));
	TRUE(got == array);
	CHECK(cuLaunchKernel(store, 1, 1, 1, 4, 4, 1, 0, NULL, NULL, NULL));
	launch(grid, 4, 4);
	CHECK(cuMemcpyDtoH(down, out, sizeof down));
	for (int i = 0; i < 16; i++) {
		unsigned bits;
		memcpy(&bits, &down[i], 4);
		EQ(bits, 1065353216u + i);
	}

	// Pitched memory.
	CUDA_ARRAY_DESCRIPTOR rows = {.Width = 4, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	CHECK(cuTexRefSetAddress2D(tex, &rows, a, 16));
	launch(grid, 4, 4);
	holds(16, 1);

	CHECK(cuModuleUnload(m));
	EXPECT(cuTexRefSetFlags(tex, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuSurfRefSetArray(surf, array, 0), CUDA_ERROR_INVALID_HANDLE);

	// A launch that samples a reference nothing is bound to is a fault.
	CHECK(cuModuleLoadData(&m, ptx));
	CHECK(cuModuleGetFunction(&row, m, "row"));
	launch(row, 16, 1);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	return 0;
}
