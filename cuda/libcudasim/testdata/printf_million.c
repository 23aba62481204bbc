// A million calls of printf in one launch: the newest output is kept, up to the context's limit.
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".global .align 1 .b8 format[5] = {37, 55, 100, 10, 0};\n" // "%7d\n"
	".visible .entry number()\n"
	"{\n"
	"	.local .align 4 .b8 args[4]; .reg .b64 %d<3>; .reg .b32 %r<4>;\n"
	"	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 1024, %r2; st.local.u32 [args], %r1;\n"
	"	mov.u64 %d1, format; cvta.global.u64 %d1, %d1; mov.u64 %d2, args; cvta.local.u64 %d2, %d2;\n"
	"	{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [a], %d2; call (r), vprintf, (f, a); }\n"
	"	ret;\n"
	"}\n";

enum { ROOM = 1 << 16, LINE = 8 };

int main(void) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction number;
	char note[] = "[printf: the first 8323072 bytes are lost", read_back[sizeof note] = "", last[LINE + 1] = "";
	struct stat status;
	FILE *out = tmpfile();

	TRUE(out != NULL && dup2(fileno(out), 1) == 1);
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, ROOM));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&number, module, "number"));
	CHECK(cuLaunchKernel(number, 1024, 1, 1, 1024, 1, 1, 0, NULL, NULL, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuCtxDestroy(context));

	TRUE(fstat(fileno(out), &status) == 0 && status.st_size > ROOM && status.st_size < ROOM + 200);
	TRUE(pread(fileno(out), read_back, sizeof note - 1, 0) == sizeof note - 1 && strcmp(read_back, note) == 0);
	TRUE(pread(fileno(out), last, LINE, status.st_size - LINE) == LINE && strcmp(last, "1048575\n") == 0);
	return 0;
}
