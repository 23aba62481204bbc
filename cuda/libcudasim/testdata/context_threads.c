// Threads that use contexts while others wait in them, destroy them or begin their next life.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { LIVES = 4, CALLS = 8 };

static CUdevice device;
static CUcontext context;
static CUstream stream;
static CUevent event;
static CUdeviceptr memory;
static sem_t gate;

static void CUDA_CB slow(void *us) { usleep((useconds_t)(intptr_t)us); }
static void CUDA_CB hold(void *unused) {
	(void)unused;
	sem_wait(&gate);
}

// What other threads do in a context that ends meanwhile: it works, it is not ready, or the context is destroyed.
static void *wait_somehow(void *how) {
	CUresult r = CUDA_ERROR_UNKNOWN;
	CUdeviceptr p;
	float ms;
	(void)cuCtxSetCurrent(context);
	switch ((intptr_t)how) {
	case 0: r = cuStreamSynchronize(stream); break;
	case 1: r = cuStreamQuery(stream); break;
	case 2: r = cuEventQuery(event); break;
	case 3: r = cuCtxSynchronize(); break;
	case 4: r = cuEventSynchronize(event); break;
	case 5: r = cuMemAlloc(&p, 100) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : cuMemFree(p); break;
	case 6: r = cuEventElapsedTime(&ms, event, event); break;
	case 7: r = cuMemFree(memory); break;
	}
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY && r != CUDA_ERROR_INVALID_CONTEXT && r != CUDA_ERROR_INVALID_HANDLE && r != CUDA_ERROR_INVALID_VALUE)
		EXPECT(r, CUDA_ERROR_CONTEXT_IS_DESTROYED);
	return NULL;
}

// Threads begin to wait before and after the context ends.
static void end_while_others_wait(int primary) {
	pthread_t threads[2 * CALLS];
	for (int life = 0; life < LIVES; life++) {
		if (primary) {
			CHECK(cuDevicePrimaryCtxRetain(&context, device));
			CHECK(cuCtxSetCurrent(context));
		} else
			CHECK(cuCtxCreate(&context, 0, device));
		CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		CHECK(cuEventCreate(&event, 0));
		CHECK(cuMemAlloc(&memory, 100));
		CHECK(cuLaunchHostFunc(stream, slow, (void *)2000));
		CHECK(cuLaunchHostFunc(stream, slow, (void *)2000));
		CHECK(cuEventRecord(event, stream));
		for (intptr_t i = 0; i < CALLS; i++)
			TRUE(pthread_create(&threads[i], NULL, wait_somehow, (void *)i) == 0);
		usleep(1000);
		for (intptr_t i = CALLS; i < 2 * CALLS; i++)
			TRUE(pthread_create(&threads[i], NULL, wait_somehow, (void *)(i - CALLS)) == 0);
		if (primary)
			CHECK(cuDevicePrimaryCtxReset(device));
		else
			CHECK(cuCtxDestroy(context));
		for (int i = 0; i < 2 * CALLS; i++)
			TRUE(pthread_join(threads[i], NULL) == 0);
		if (primary)
			CHECK(cuDevicePrimaryCtxRelease(device));
	}
}

// retain_anew begins the next life of the primary context while another thread ends the last one.
static void *retain_anew(void *unused) {
	CUcontext c;
	CUstream s;
	CUdeviceptr p;
	(void)unused;
	usleep(5000); // after the end of the last life has begun
	CHECK(cuDevicePrimaryCtxRetain(&c, device));
	CHECK(cuCtxSetCurrent(c));
	CHECK(cuMemAlloc(&p, 1000));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	usleep(50000); // beyond that end
	CHECK(cuMemsetD8(p, 1, 1000));
	CHECK(cuStreamSynchronize(s));
	CHECK(cuStreamDestroy(s));
	CHECK(cuMemFree(p));
	CHECK(cuDevicePrimaryCtxRelease(device));
	return NULL;
}

static void *open_gate(void *unused) {
	usleep(40000);
	sem_post(&gate);
	return unused;
}

static void retain_while_released(int reset) {
	pthread_t other, opener;
	unsigned flags;
	int active = 1;
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuLaunchHostFunc(stream, hold, NULL));
	TRUE(pthread_create(&opener, NULL, open_gate, NULL) == 0);
	usleep(1000);
	if (reset) {
		TRUE(pthread_create(&other, NULL, retain_anew, NULL) == 0);
		CHECK(cuDevicePrimaryCtxReset(device));
		CHECK(cuDevicePrimaryCtxRelease(device));
	} else {
		pthread_t late;
		TRUE(pthread_create(&other, NULL, retain_anew, NULL) == 0);
		TRUE(pthread_create(&late, NULL, retain_anew, NULL) == 0);
		CHECK(cuDevicePrimaryCtxRelease(device));
		TRUE(pthread_join(late, NULL) == 0);
	}
	TRUE(pthread_join(opener, NULL) == 0);
	TRUE(pthread_join(other, NULL) == 0);
	CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
	EQ(active, 0);
}

static volatile int stop;

static void *create_and_destroy(void *unused) {
	while (!stop) {
		CUcontext c;
		CUstream s;
		CHECK(cuCtxCreate(&c, 0, device));
		CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
		CHECK(cuLaunchHostFunc(s, slow, (void *)300));
		CHECK(cuCtxDestroy(c));
	}
	return unused;
}

// Unmapping and changes of access wait for all contexts, some of which end meanwhile.
static void map_while_others_end(void) {
	enum { SIZE = 2 << 20 };
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle h;
	CUdeviceptr p;
	pthread_t others[2];
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAddressReserve(&p, SIZE, 0, 0, 0));
	CHECK(cuMemCreate(&h, SIZE, &prop, 0));
	stop = 0;
	for (int i = 0; i < 2; i++)
		TRUE(pthread_create(&others[i], NULL, create_and_destroy, NULL) == 0);
	for (int i = 0; i < 30; i++) {
		CHECK(cuMemMap(p, SIZE, 0, h, 0));
		CHECK(cuMemSetAccess(p, SIZE, &access, 1));
		CHECK(cuLaunchHostFunc(stream, slow, (void *)500));
		CHECK(cuMemsetD8Async(p, 1, SIZE, stream));
		CHECK(cuMemUnmap(p, SIZE));
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		TRUE(pthread_join(others[i], NULL) == 0);
	CHECK(cuMemRelease(h));
	CHECK(cuMemAddressFree(p, SIZE));
	CHECK(cuCtxDestroy(context));
}

static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n.global .texref a; .global .texref b;\n"
	".visible .entry sample(.param .u64 p, .param .u32 v) {\n"
	" .reg .u64 %p; .reg .u32 %v, %i; .reg .u32 %x<4>;\n"
	" ld.param.u64 %p, [p]; ld.param.u32 %v, [v]; mov.u32 %i, 0;\n"
	" tex.1d.v4.u32.s32 {%x0, %x1, %x2, %x3}, [a, {%i}]; st.global.u32 [%p], %v; ret;\n}\n"
	".visible .entry plain(.param .u64 p, .param .u32 v) {\n"
	" .reg .u64 %p; .reg .u32 %v; ld.param.u64 %p, [p]; ld.param.u32 %v, [v]; st.global.u32 [%p], %v; ret;\n}\n";

static CUfunction plain;

static void *launch_plain(void *unused) {
	unsigned v = 0xb0b;
	void *args[] = {&memory, &v};
	CUstream s;
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	while (!stop) {
		CHECK(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
		usleep(100);
	}
	return unused;
}

// A launch that first waits to bind a texture reference has its own parameters, whatever others launch meanwhile.
static void launch_with_references(void) {
	CUmodule module;
	CUfunction sample;
	CUtexref a, b;
	CUdeviceptr out, texels;
	CUstream other;
	CUarray_format format;
	int channels;
	pthread_t t;
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&sample, module, "sample"));
	CHECK(cuModuleGetFunction(&plain, module, "plain"));
	CHECK(cuModuleGetTexRef(&a, module, "a"));
	CHECK(cuMemAlloc(&out, 64));
	CHECK(cuMemAlloc(&memory, 64));
	CHECK(cuMemAlloc(&texels, 64));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	CHECK(cuTexRefSetFormat(a, CU_AD_FORMAT_UNSIGNED_INT32, 1));
	CHECK(cuTexRefSetFlags(a, CU_TRSF_READ_AS_INTEGER));
	stop = 0;
	TRUE(pthread_create(&t, NULL, launch_plain, NULL) == 0);
	for (unsigned i = 1; i <= 20; i++) {
		unsigned have = 0;
		void *args[] = {&out, &i};
		CHECK(cuLaunchHostFunc(other, slow, (void *)2000));
		CHECK(cuTexRefSetAddress(NULL, a, texels, 64));
		if (i % 2) {
			CHECK(cuLaunchKernel(sample, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
		} else {
			CHECK(cuFuncSetBlockShape(sample, 1, 1, 1));
			CHECK(cuParamSetSize(sample, 12));
			CHECK(cuParamSetv(sample, 0, &out, 8));
			CHECK(cuParamSeti(sample, 8, i));
			CHECK(cuLaunchGridAsync(sample, 1, 1, stream));
		}
		CHECK(cuStreamSynchronize(stream));
		CHECK(cuMemcpyDtoH(&have, out, 4));
		EQ(have, i);
	}
	stop = 1;
	TRUE(pthread_join(t, NULL) == 0);
	CHECK(cuModuleGetTexRef(&b, module, "b"));
	CHECK(cuModuleGetTexRef(&a, module, "a")); // the same again
	CHECK(cuTexRefGetFormat(&format, &channels, a));
	EQ(format, CU_AD_FORMAT_UNSIGNED_INT32);
	TRUE(a != b);
	CHECK(cuCtxDestroy(context));
}

int main(void) {
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	TRUE(sem_init(&gate, 0, 0) == 0);
	end_while_others_wait(0);
	end_while_others_wait(1);
	retain_while_released(0);
	retain_while_released(1);
	map_while_others_end();
	launch_with_references();
	return 0;
}
