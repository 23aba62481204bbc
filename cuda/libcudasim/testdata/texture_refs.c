// Texture references return the attributes that were set.
#include "check.h"

// starts_are_aligned checks offsets at the start of allocations and behind it.
static void starts_are_aligned(CUtexref r) {
	CUDA_ARRAY_DESCRIPTOR rows = {.Width = 8, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	CUdeviceptr p[6], at;
	size_t offset;
	for (int i = 0; i < 6; i++) {
		CHECK(cuMemAlloc(&p[i], 1000 + 200 * i)); // of distances that differ
		offset = 1;
		CHECK(cuTexRefSetAddress(&offset, r, p[i], 1000));
		EQ(offset, 0);
		CHECK(cuTexRefSetAddress(NULL, r, p[i] + 512, 400));
		CHECK(cuTexRefSetAddress(&offset, r, p[i] + 516, 400));
		EQ(offset, 4);
		CHECK(cuTexRefGetAddress(&at, r));
		EQ(at, p[i] + 512);
		EXPECT(cuTexRefSetAddress(NULL, r, p[i] + 256, 400), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuTexRefSetAddress(&offset, r, p[i] + 512, 500 + 200 * i), CUDA_ERROR_INVALID_VALUE);
		CHECK(cuTexRefSetAddress2D(r, &rows, p[i], 512));
		CHECK(cuTexRefSetAddress2D(r, &rows, p[i] + 512, 32));
		EXPECT(cuTexRefSetAddress2D(r, &rows, p[i] + 256, 32), CUDA_ERROR_INVALID_VALUE);
	}
	for (int i = 0; i < 6; i++)
		CHECK(cuMemFree(p[i]));
	EXPECT(cuTexRefSetAddress(&offset, r, p[0], 0), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 2));
}

int main(void) {
	CUtexref r;
	CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
	CUarray a, got;
	CUdeviceptr p, at;
	CUaddress_mode mode;
	CUfilter_mode filter;
	CUarray_format format;
	float border[4] = {1, 2, 3, 4}, back[4] = {0}, bias, least, most;
	size_t offset;
	unsigned flags;
	int n;
	open_device();
	CHECK(cuTexRefCreate(&r));
	CHECK(cuArrayCreate(&a, &d));
	CHECK(cuMemAlloc(&p, 4096));
	CHECK(cuTexRefSetArray(r, a, CU_TRSA_OVERRIDE_FORMAT));
	CHECK(cuTexRefGetArray(&got, r));
	TRUE(got == a);
	CHECK(cuTexRefGetFormat(&format, &n, r));
	EQ(format, CU_AD_FORMAT_UNSIGNED_INT8);
	EQ(n, 4);
	CHECK(cuTexRefSetFormat(r, CU_AD_FORMAT_FLOAT, 2));
	CHECK(cuTexRefGetFormat(&format, &n, r));
	EQ(format, CU_AD_FORMAT_FLOAT);
	EQ(n, 2);
	CHECK(cuTexRefSetAddress(&offset, r, p, 1024));
	EQ(offset, 0);
	CHECK(cuTexRefGetAddress(&at, r));
	EQ(at, p);
	EXPECT(cuTexRefGetArray(&got, r), CUDA_ERROR_INVALID_VALUE);
	starts_are_aligned(r);
	CHECK(cuTexRefSetAddress(&offset, r, p, 1024));
	for (int i = 0; i < 3; i++) {
		CHECK(cuTexRefSetAddressMode(r, i, (CUaddress_mode)(i + 1)));
		CHECK(cuTexRefGetAddressMode(&mode, r, i));
		EQ(mode, i + 1);
	}
	CHECK(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_LINEAR));
	CHECK(cuTexRefGetFilterMode(&filter, r));
	EQ(filter, CU_TR_FILTER_MODE_LINEAR);
	CHECK(cuTexRefSetFlags(r, CU_TRSF_NORMALIZED_COORDINATES));
	CHECK(cuTexRefGetFlags(&flags, r));
	EQ(flags, CU_TRSF_NORMALIZED_COORDINATES);
	CHECK(cuTexRefSetMipmapLevelBias(r, 0.5f));
	CHECK(cuTexRefGetMipmapLevelBias(&bias, r));
	TRUE(bias == 0.5f);
	CHECK(cuTexRefSetMipmapLevelClamp(r, 1, 3));
	CHECK(cuTexRefGetMipmapLevelClamp(&least, &most, r));
	TRUE(least == 1 && most == 3);
	CHECK(cuTexRefSetMaxAnisotropy(r, 8));
	CHECK(cuTexRefGetMaxAnisotropy(&n, r));
	EQ(n, 8);
	CHECK(cuTexRefSetBorderColor(r, border));
	CHECK(cuTexRefGetBorderColor(back, r));
	TRUE(memcmp(border, back, sizeof border) == 0);
	EXPECT(cuTexRefSetFilterMode(r, (CUfilter_mode)9), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuTexRefDestroy(r));
	CHECK(cuArrayDestroy(a));
	CHECK(cuMemFree(p));
	return 0;
}
