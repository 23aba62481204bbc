// Two processes share device memory. The child is this program, run again, and gets the handles through a pipe.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry twice(.param .u64 p) {\n"
	" .reg .b64 %rd<3>; .reg .b32 %r<6>;\n"
	" ld.param.u64 %rd0, [p];\n"
	" mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;\n"
	" mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %rd0, %rd1;\n"
	" ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r4; st.global.u32 [%rd2], %r4; ret; }\n";

enum { N = 1 << 12, BLOCK = 128, ROUNDS = 4 };

static CUfunction kernel(void) {
	CUmodule module;
	CUfunction twice;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&twice, module, "twice"));
	return twice;
}

static void launch(CUfunction f, CUdeviceptr p) {
	void *args[] = {&p};
	CHECK(cuLaunchKernel(f, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL));
	CHECK(cuCtxSynchronize());
}

// all checks that every word of the memory is the value.
static void all(CUdeviceptr p, unsigned value) {
	static unsigned have[N];
	CHECK(cuMemcpyDtoH(have, p, sizeof have));
	for (int i = 0; i < N; i++)
		EQ(have[i], value);
}

static void fill(CUdeviceptr p, unsigned value) {
	CHECK(cuMemsetD32(p, value, N));
	CHECK(cuCtxSynchronize());
}

// The parent and the child take turns, a byte in a pipe for each.
static void pass(int fd) { TRUE(write(fd, "x", 1) == 1); }

static void turn(int fd) {
	char x;
	TRUE(read(fd, &x, 1) == 1);
}

struct offer {
	CUipcMemHandle memory, small, freed, garbage;
};

static void child(int in, int out) {
	struct offer o;
	CUdeviceptr p, again, small;
	size_t size, free, before, total;
	open_device();
	TRUE(read(in, &o, sizeof o) == (ssize_t)sizeof o);
	CHECK(cuMemGetInfo(&before, &total));
	CHECK(cuIpcOpenMemHandle(&p, o.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	CHECK(cuIpcOpenMemHandle(&again, o.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	EQ(p, again);
	CHECK(cuMemGetInfo(&free, &total));
	EQ(free, before); // it is the parent's
	CHECK(cuMemGetAddressRange(&again, &size, p + 8));
	EQ(again, p);
	EQ(size, 4 * N);
	int data = 1;
	CHECK(cuPointerGetAttribute(&data, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	EQ(data, CU_MEMORYTYPE_DEVICE);
	CHECK(cuIpcOpenMemHandle(&small, o.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	char text[5];
	CHECK(cuMemcpyDtoH(text, small, 5));
	EQ(memcmp(text, "five", 5), 0);
	CHECK(cuIpcCloseMemHandle(small));

	EXPECT(cuIpcOpenMemHandle(&again, o.freed, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcOpenMemHandle(&again, o.garbage, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcOpenMemHandle(&again, o.memory, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcOpenMemHandle(NULL, o.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
	CUipcMemHandle mine;
	EXPECT(cuIpcGetMemHandle(&mine, p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFreeAsync(p, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcCloseMemHandle(p + 4), CUDA_ERROR_INVALID_VALUE);

	CUfunction f = kernel();
	for (int i = 0; i < ROUNDS; i++) { // each content that comes below is repeated, so that its result could be kept
		fill(p, 3);
		for (unsigned want = 6; want <= 24; want *= 2) {
			launch(f, p);
			all(p, want);
		}
	}
	pass(out);
	for (int i = 0; i < ROUNDS; i++) {
		turn(in); // the parent has stored 3 over what the launch before left, which the child has not seen
		launch(f, p);
		all(p, 6);
		pass(out);
	}
	turn(in);
	fill(p, 5);
	pass(out);
	turn(in); // the parent has freed it; the mapping stays
	all(p, 7);
	CHECK(cuIpcCloseMemHandle(p));
	all(p, 7);
	CHECK(cuIpcCloseMemHandle(p));
	EXPECT(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoH(text, p, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcOpenMemHandle(&again, o.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_VALUE);
	exit(0);
}

// refused exports memory that cuMemAlloc has not allocated.
static void refused(CUdeviceptr p) {
	CUipcMemHandle h;
	CUdeviceptr q;
	void *host;
	int stack, capable;
	EXPECT(cuIpcGetMemHandle(NULL, p), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcGetMemHandle(&h, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuIpcGetMemHandle(&h, (CUdeviceptr)&stack), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemAllocHost(&host, 64));
	EXPECT(cuIpcGetMemHandle(&h, (CUdeviceptr)host), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemAllocManaged(&q, 64, CU_MEM_ATTACH_GLOBAL));
	EXPECT(cuIpcGetMemHandle(&h, q), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuMemAllocAsync(&q, 64, NULL));
	EXPECT(cuIpcGetMemHandle(&h, q), CUDA_ERROR_INVALID_VALUE);
	capable = 0;
	CHECK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, q));
	EQ(capable, 0);
	CHECK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
	EQ(capable, 1);
	EXPECT(cuIpcCloseMemHandle(p), CUDA_ERROR_INVALID_VALUE);
}

static void parent(int in, int out) {
	struct offer o;
	CUipcMemHandle twice;
	CUdeviceptr p, small, freed;
	open_device();
	CHECK(cuMemAlloc(&p, 4 * N));
	CHECK(cuMemAlloc(&small, 5));
	CHECK(cuMemAlloc(&freed, 1 << 21));
	refused(p);
	CHECK(cuMemcpyHtoD(small, "five", 5));
	CUfunction f = kernel();
	for (int i = 0; i < 3; i++) { // until the simulator has stored the result of the launch for equal contents
		fill(p, 6);
		launch(f, p);
	}
	all(p, 12);
	CHECK(cuIpcGetMemHandle(&o.memory, p));
	all(p, 12);
	CHECK(cuIpcGetMemHandle(&twice, p + 100)); // of the allocation
	EQ(memcmp(&twice, &o.memory, sizeof twice), 0);
	CHECK(cuIpcGetMemHandle(&o.small, small));
	CHECK(cuIpcGetMemHandle(&o.freed, freed));
	CHECK(cuMemFree(freed));
	memset(&o.garbage, 0x5a, sizeof o.garbage);
	EXPECT(cuIpcOpenMemHandle(&freed, o.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_CONTEXT);
	TRUE(write(out, &o, sizeof o) == (ssize_t)sizeof o);
	turn(in);
	for (int i = 0; i < ROUNDS; i++) {
		fill(p, 3);
		pass(out);
		turn(in);
		all(p, 6);
	}
	pass(out);
	turn(in);
	launch(f, p);
	all(p, 10);
	fill(p, 7);
	CHECK(cuMemFree(p));
	pass(out);
}

int main(int argc, char **argv) {
	if (argc == 3)
		child(atoi(argv[1]), atoi(argv[2]));
	int down[2], up[2], status;
	char in[16], out[16];
	TRUE(pipe(down) == 0 && pipe(up) == 0);
	snprintf(in, sizeof in, "%d", down[0]);
	snprintf(out, sizeof out, "%d", up[1]);
	pid_t pid = fork();
	if (pid == 0) {
		close(down[1]);
		close(up[0]);
		execl("/proc/self/exe", argv[0], in, out, (char *)NULL);
		_exit(1);
	}
	close(down[0]);
	close(up[1]);
	parent(up[0], down[1]);
	TRUE(waitpid(pid, &status, 0) == pid);
	EQ(status, 0);
	return 0;
}
