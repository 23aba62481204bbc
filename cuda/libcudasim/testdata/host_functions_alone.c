// Host functions and callbacks run by themselves: while the program sleeps or computes and
// makes no call.
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static CUstream s;
static atomic_int calls;
static pthread_t main_thread;

static void CUDA_CB count(void *data) {
	(void)data;
	calls++;
}

static void CUDA_CB count_status(CUstream stream, CUresult status, void *data) {
	TRUE(stream == s);
	*(CUresult *)data = status;
	calls++;
}

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// Sleeps until n calls were made, for 20 seconds at most.
static void sleep_until(int n) {
	for (double start = seconds(); calls < n && seconds() - start < 20;)
		usleep(1000);
	EQ(calls, n);
	calls = 0;
}

static void spin_until(int n) {
	for (double start = seconds(); calls < n && seconds() - start < 20;)
		;
	EQ(calls, n);
	calls = 0;
}

static void sleeping(void) {
	CUresult status = CUDA_ERROR_UNKNOWN;
	CHECK(cuStreamAddCallback(s, count_status, &status, 0));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	sleep_until(2);
	EQ(status, CUDA_SUCCESS);
	CHECK(cuLaunchHostFunc(s, count, NULL));
	spin_until(1);
	CHECK(cuStreamSynchronize(s));
	EQ(calls, 0);
}

// A function may run in any thread. It may not call the driver.
static void CUDA_CB call_driver(void *data) {
	CUdeviceptr memory;
	*(CUresult *)data = cuMemAlloc(&memory, 1);
	TRUE(!pthread_equal(pthread_self(), main_thread));
	calls++;
}

// The function sees what came before it in its stream, and not what comes after.
static unsigned *seen, copied;

static void CUDA_CB look(void *data) {
	(void)data;
	copied = *seen;
	calls++;
}

static void in_order(void) {
	CUdeviceptr p;
	CUresult answer = CUDA_SUCCESS;
	CHECK(cuMemHostAlloc((void **)&seen, 64, 0));
	*seen = 0;
	CHECK(cuMemAlloc(&p, 64));
	for (unsigned i = 1; i <= 3; i++) {
		CHECK(cuMemsetD32Async(p, i, 16, s));
		CHECK(cuMemcpyDtoHAsync(seen, p, 64, s));
		CHECK(cuLaunchHostFunc(s, look, NULL));
		CHECK(cuMemsetD32Async(p, 100, 16, s));
		CHECK(cuMemcpyDtoHAsync(seen, p, 64, s));
		sleep_until(1);
		EQ(copied, i);
	}
	CHECK(cuLaunchHostFunc(s, call_driver, &answer));
	sleep_until(1);
	EQ(answer, CUDA_ERROR_NOT_PERMITTED);
	CHECK(cuMemFree(p));
	CHECK(cuMemFreeHost(seen));
}

static void of_graphs(void) {
	CUgraph g;
	CUgraphExec x;
	CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	CHECK(cuStreamEndCapture(s, &g));
	CHECK(cuGraphInstantiate(&x, g, 0));
	CHECK(cuGraphLaunch(x, s));
	CHECK(cuGraphLaunch(x, s));
	CHECK(cuGraphExecDestroy(x));
	CHECK(cuGraphDestroy(g));
	sleep_until(4);
}

// The stream waits for a word that the program stores, and stores one that it sees.
static void values(void) {
	volatile unsigned *words;
	CUdeviceptr at;
	double start;
	CHECK(cuMemHostAlloc((void **)&words, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&at, (void *)words, 0));
	words[0] = words[1] = 0;
	CHECK(cuStreamWaitValue32(s, at, 3, CU_STREAM_WAIT_VALUE_EQ));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	CHECK(cuStreamWriteValue32(s, at + 4, 8, CU_STREAM_WRITE_VALUE_DEFAULT));
	usleep(50000);
	EQ(calls, 0);
	words[0] = 3;
	sleep_until(1);
	for (start = seconds(); words[1] != 8 && seconds() - start < 20;)
		usleep(1000);
	EQ(words[1], 8);
	CHECK(cuMemFreeHost((void *)words));
}

// A function that waits for a thread, which calls the driver meanwhile.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void CUDA_CB take_lock(void *data) {
	(void)data;
	pthread_mutex_lock(&lock);
	calls++;
	pthread_mutex_unlock(&lock);
}

static void with_a_lock(int sleeps) {
	CUdeviceptr p;
	CUevent e;
	CHECK(cuEventCreate(&e, 0));
	pthread_mutex_lock(&lock);
	CHECK(cuLaunchHostFunc(s, take_lock, NULL));
	CHECK(cuEventRecord(e, s));
	if (sleeps)
		usleep(50000); // by now it waits for the lock, unless the machine is busy
	CHECK(cuMemAlloc(&p, 64));
	CHECK(cuMemsetD32Async(p, 1, 16, s));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	EXPECT(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	EQ(calls, 0);
	pthread_mutex_unlock(&lock);
	sleep_until(1);
	CHECK(cuStreamSynchronize(s));
	CHECK(cuMemFree(p));
	CHECK(cuEventDestroy(e));
}

// A function that waits for a thread, which waits for another stream.
static CUstream other;

static void *wait_for_other(void *context) {
	CUdeviceptr p;
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuMemAlloc(&p, 64));
	CHECK(cuMemsetD32Async(p, 1, 16, other));
	CHECK(cuStreamSynchronize(other));
	return NULL;
}

static void CUDA_CB join(void *thread) {
	pthread_mutex_lock(&lock); // there is a thread by then
	pthread_mutex_unlock(&lock);
	pthread_join(*(pthread_t *)thread, NULL);
	calls++;
}

static void of_another_stream(CUcontext context) {
	pthread_t thread;
	CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	pthread_mutex_lock(&lock);
	CHECK(cuLaunchHostFunc(s, join, &thread));
	EQ(pthread_create(&thread, NULL, wait_for_other, context), 0);
	pthread_mutex_unlock(&lock);
	CHECK(cuStreamSynchronize(s));
	EQ(calls, 1);
	calls = 0;
	CHECK(cuStreamDestroy(other));
}

// The device takes the same time whether the program sleeps or not.
static float took(int sleeps) {
	CUevent a, b;
	float ms;
	CUdeviceptr p;
	CHECK(cuMemAlloc(&p, 1 << 24));
	CHECK(cuEventCreate(&a, 0));
	CHECK(cuEventCreate(&b, 0));
	CHECK(cuEventRecord(a, s));
	CHECK(cuMemsetD32Async(p, 1, 1 << 22, s));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	CHECK(cuMemsetD32Async(p, 2, 1 << 22, s));
	CHECK(cuEventRecord(b, s));
	if (sleeps)
		sleep_until(1);
	CHECK(cuStreamSynchronize(s));
	CHECK(cuEventElapsedTime(&ms, a, b));
	CHECK(cuEventDestroy(a));
	CHECK(cuEventDestroy(b));
	CHECK(cuMemFree(p));
	calls = 0;
	return ms;
}

static void after_a_fault(void) {
	static const char *ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry fail() { trap; }\n";
	CUmodule module;
	CUfunction fail;
	CUresult status = CUDA_SUCCESS;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&fail, module, "fail"));
	CHECK(cuLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
	CHECK(cuLaunchHostFunc(s, count, NULL));
	CHECK(cuStreamAddCallback(s, count_status, &status, 0));
	sleep_until(1);
	EQ(status, CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuStreamQuery(s), CUDA_ERROR_LAUNCH_FAILED);
}

int main(void) {
	CUdevice device;
	CUcontext context;
	float once;
	main_thread = pthread_self();
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	sleeping();
	in_order();
	of_graphs();
	values();
	with_a_lock(0);
	with_a_lock(1);
	of_another_stream(context);
	once = took(0);
	TRUE(fabsf(took(1) - once) < 2e-6f); // ends are rounded to a nanosecond
	TRUE(fabsf(took(0) - once) < 2e-6f);
	after_a_fault();
	CHECK(cuCtxDestroy(context));
	return 0;
}
