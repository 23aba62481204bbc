// Prints statuses that no function of the simulator returns: of cuInit without a GPU, and of a child of fork.
#include "../check.h"

#include <sys/wait.h>
#include <unistd.h>

static void returned(const char *name, CUresult result) {
	fflush(stderr);
	fprintf(stderr, "returned %s %d\n", name, result);
}

int main(void) {
	CUresult (*memset_per_thread)(CUdeviceptr, unsigned char, size_t);
	CUdeviceptr p;
	int status;
	CHECK(cuGetProcAddress("cuMemsetD8", (void **)&memset_per_thread, 12040, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	setenv("REPRISE_SIM", "none", 1);
	returned("cuInit", cuInit(0));
	pid_t pid = fork();
	if (pid == 0) {
		returned("cuInit", cuInit(0));
		returned("cuMemAlloc_v2", cuMemAlloc(&p, 4));
		returned("cuMemsetD8_v2_ptds", memset_per_thread(p, 0, 4));
		returned("cuGetErrorName", cuGetErrorName(12345, (const char **)&p));
		_exit(0);
	}
	TRUE(pid > 0 && waitpid(pid, &status, 0) == pid);
	EQ(status, 0);
	return 0;
}
