// Texture references hold what was set in them.
#include "check.h"

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
