// In a child of fork all driver functions fail, whether or not other threads were in a call, and whether the
// functions come from symbols or from cuGetProcAddress. A child that calls exec is not affected, and neither is
// the parent.
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static CUdeviceptr memory;

// The driver's cuMemAlloc, as the CUDA runtime finds it.
static CUresult (*found)(CUdeviceptr *, size_t);
static CUresult (*found_per_thread)(CUdeviceptr, unsigned char, size_t);
static CUresult (*missing)(const void **, const CUuuid *);

static void find(const char *name, cuuint64_t flags, void *function) {
	CHECK(cuGetProcAddress(name, (void **)function, 12040, flags, NULL));
}

static void *churn(void *stop) {
	while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE))
		cuMemAlloc(&memory, 0);
	return NULL;
}

static void child(void) {
	CUdeviceptr p;
	const char *name;
	alarm(20); // rather than hang
	for (int i = 0; i < 100; i++) {
		EXPECT(cuMemAlloc(&p, 64), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT(found(&p, 64), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT(found_per_thread(memory, 0, 4), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT(missing(NULL, NULL), CUDA_ERROR_NOT_INITIALIZED);
	}
	EXPECT(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuGetProcAddress("cuInit", (void **)&found, 12040, 0, NULL), CUDA_ERROR_NOT_INITIALIZED);
	CHECK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name));
	exit(0);
}

static void wait_for(pid_t pid) {
	int status;
	TRUE(pid > 0 && waitpid(pid, &status, 0) == pid);
	EQ(status, 0);
}

int main(void) {
	pthread_t thread;
	int stop = 0;
	open_device();
	CHECK(cuMemAlloc(&memory, 4));
	find("cuMemAlloc", 0, &found);
	find("cuMemsetD8", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &found_per_thread);
	find("cuGetExportTable", 0, &missing);
	TRUE(pthread_create(&thread, NULL, churn, &stop) == 0);
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		if (pid == 0)
			child();
		wait_for(pid);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);

	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait_for(pid);
	CHECK(cuMemAlloc(&memory, 4));
	CHECK(cuMemFree(memory));
	return 0;
}
