// Memory that the host reads changes while the program polls it and makes no call, and host
// functions run while other threads make calls all the time.
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static CUcontext context;
static CUstream s;

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// Polls until the word is n, sleeping in between or not.
static void poll_for(volatile unsigned *word, unsigned n, int sleeps) {
	for (double start = seconds(); *word != n && seconds() - start < 20;)
		if (sleeps)
			usleep(1000);
	EQ(*word, n);
}

// A copy into pinned memory, and a fill of it.
static void polling(int sleeps) {
	volatile unsigned *words;
	CUdeviceptr p, at;
	CHECK(cuMemHostAlloc((void **)&words, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&at, (void *)words, 0));
	CHECK(cuMemAlloc(&p, 64));
	words[0] = words[1] = 0;
	CHECK(cuMemsetD32Async(p, 7, 16, s));
	CHECK(cuMemcpyDtoHAsync((void *)words, p, 4, s));
	CHECK(cuMemsetD32Async(at + 4, 8, 1, s));
	poll_for(&words[0], 7, sleeps);
	poll_for(&words[1], 8, sleeps);
	CHECK(cuMemFree(p));
	CHECK(cuMemFreeHost((void *)words));
}

static atomic_int calls, stop;

static void CUDA_CB count(void *data) {
	(void)data;
	calls++;
}

static void *call(void *data) {
	size_t unused, total;
	(void)data;
	CHECK(cuCtxSetCurrent(context));
	for (; !stop; usleep(2000))
		CHECK(cuMemGetInfo(&unused, &total));
	return NULL;
}

// A function behind much work is called, though another thread makes calls every few milliseconds.
static void busy(void) {
	pthread_t thread;
	CUdeviceptr p;
	CHECK(cuMemAlloc(&p, 1 << 30));
	CHECK(cuMemsetD8Async(p, 1, 1 << 30, s));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	EQ(pthread_create(&thread, NULL, call, NULL), 0);
	for (double start = seconds(); calls < 1 && seconds() - start < 20;)
		usleep(1000);
	EQ(calls, 1);
	stop = 1;
	EQ(pthread_join(thread, NULL), 0);
	CHECK(cuMemFree(p));
}

int main(void) {
	CUdevice device;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	polling(1);
	polling(0);
	busy();
	CHECK(cuCtxDestroy(context));
	return 0;
}
