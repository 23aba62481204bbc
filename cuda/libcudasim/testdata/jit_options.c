// Options of the just-in-time compiler.
#include "check.h"

static const char *ptx =
	".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
	".reg .f64 %f<40>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n"
#define LOAD(n) "ld.global.f64 %f" #n ", [%rd1 + " #n "*8];\n"
	LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7) LOAD(8) LOAD(9) LOAD(10) LOAD(11) LOAD(12) LOAD(13) LOAD(14) LOAD(15) LOAD(16)
#define ADD(n) "add.f64 %f1, %f1, %f" #n ";\n"
	ADD(16) ADD(15) ADD(14) ADD(13) ADD(12) ADD(11) ADD(10) ADD(9) ADD(8) ADD(7) ADD(6) ADD(5) ADD(4) ADD(3) ADD(2)
	"st.global.f64 [%rd1], %f1; ret; }\n"
	".visible .entry fixed() .maxnreg 64 { ret; }\n";

static int registers(unsigned limit, const char *kernel) {
	CUmodule m;
	CUfunction f;
	int n;
	CUjit_option o[] = {CU_JIT_MAX_REGISTERS};
	void *v[] = {(void *)(uintptr_t)limit};
	CHECK(cuModuleLoadDataEx(&m, ptx, 1, o, v));
	CHECK(cuModuleGetFunction(&f, m, kernel));
	CHECK(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	CHECK(cuModuleUnload(m));
	return n;
}

int main(void) {
	CUmodule m;
	CUlinkState link;
	CUfunction f;
	void *image;
	int n;
	open_device();
	TRUE(registers(0, "k") > 24);
	EQ(registers(16, "k"), 16);
	EQ(registers(200, "k"), registers(0, "k"));
	EQ(registers(16, "fixed"), registers(0, "fixed")); // a kernel's own limit takes precedence

	CUjit_option limit[] = {CU_JIT_MAX_REGISTERS};
	void *sixteen[] = {(void *)16};
	CHECK(cuLinkCreate(1, limit, sixteen, &link));
	CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, strlen(ptx) + 1, "k", 0, NULL, NULL));
	CHECK(cuLinkComplete(link, &image, NULL));
	CHECK(cuModuleLoadData(&m, image));
	CHECK(cuLinkDestroy(link));
	CHECK(cuModuleGetFunction(&f, m, "k"));
	CHECK(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	EQ(n, 16);

	char info[200] = "x", error[200] = "x";
	CUjit_option logs[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
		CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME};
	void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error, (void *)1, NULL};
	CHECK(cuModuleLoadDataEx(&m, ptx, 6, logs, values));
	TRUE(strstr(info, "k: ") != NULL && strstr(info, "registers") != NULL);
	TRUE(error[0] == 0);
	EQ((uintptr_t)values[1], strlen(info));
	float ms;
	memcpy(&ms, &values[5], sizeof ms);
	TRUE(ms > 0);

	CUjit_option none[] = {(CUjit_option)1000};
	EXPECT(cuModuleLoadDataEx(&m, ptx, 1, none, sixteen), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
