// The code that cuModuleLoadData returns for each kind of image that cannot be loaded.
// env: REPRISE_SIM=v100
#include "check.h"

#define TEXT(version, target) ".version " version "\n.target " target "\n.address_size 64\n"
#define KERNEL ".visible .entry k() { ret; }\n"
#define GOOD TEXT("6.0", "sm_52") KERNEL

static void answers(const void *image, CUresult want) {
	CUmodule module;
	CUfunction function;
	EXPECT(cuModuleLoadData(&module, image), want);
	if (want == CUDA_SUCCESS) {
		CHECK(cuModuleGetFunction(&function, module, "k"));
		CHECK(cuModuleUnload(module));
	}
}

static void texts(void) {
	answers(GOOD, CUDA_SUCCESS);
	answers(".version 6.0\r\n.target sm_52\r\n.address_size 64\r\n.visible .entry k()\r\n{ ret; }\r\n", CUDA_SUCCESS);
	answers("", CUDA_ERROR_INVALID_IMAGE);
	answers("this is no program\n", CUDA_ERROR_INVALID_IMAGE);
	answers(".target sm_52\n.version 6.0\n" KERNEL, CUDA_ERROR_INVALID_IMAGE);
	answers("// a comment\n" GOOD, CUDA_SUCCESS);
	answers(TEXT("6.0", "sm_52") ".visible .entry k() { add.u32 %r1, 1; ret; }\n", CUDA_ERROR_INVALID_PTX);
	answers(TEXT("6.0", "sm_52") ".visible .entry k() { ret;\n", CUDA_ERROR_INVALID_PTX);
	answers(".version 6.0\n" KERNEL, CUDA_ERROR_INVALID_PTX);
	answers(TEXT("99.0", "sm_52") KERNEL, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
	answers(TEXT("6.0", "sm_70") KERNEL, CUDA_SUCCESS);
	answers(TEXT("7.8", "sm_90") KERNEL, CUDA_ERROR_INVALID_PTX); // current drivers do not return 209 here
	answers("\xef\xbb\xbf" GOOD, CUDA_ERROR_INVALID_IMAGE); // a byte order mark
}

static void binaries(void) {
	static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
	answers(elf, CUDA_ERROR_NO_BINARY_FOR_GPU);
	answers(fatbin, CUDA_ERROR_NO_BINARY_FOR_GPU);
}

int main(void) {
	open_device();
	texts();
	binaries();
	return 0;
}
