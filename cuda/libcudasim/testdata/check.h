// Checks for the programs in this folder. A program prints nothing and exits with status 0 if all checks
// succeed. Otherwise it prints the position of the first failure and exits with status 1.
#ifndef CHECK_H
#define CHECK_H

#include <cuda.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// EXPECT fails unless a driver call returns the code.
#define EXPECT(call, code) check_result((call), (code), #call, __FILE__, __LINE__)
#define CHECK(call) EXPECT(call, CUDA_SUCCESS)

// TRUE fails unless the condition holds; EQ, unless two integers are equal.
#define TRUE(condition) \
	((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "%s does not hold", #condition))
#define EQ(have, want) check_equal((long long)(have), (long long)(want), #have, __FILE__, __LINE__)

#define check_fail(file, line, ...) \
	(fprintf(stderr, "%s:%d: ", file, line), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static inline void check_result(CUresult have, CUresult want, const char *call, const char *file, int line) {
	const char *h = "?", *w = "?";
	if (have == want)
		return;
	cuGetErrorName(have, &h);
	cuGetErrorName(want, &w);
	check_fail(file, line, "%s returns %s (%d), want %s (%d)", call, h, have, w, want);
}

static inline void check_equal(long long have, long long want, const char *what, const char *file, int line) {
	if (have != want)
		check_fail(file, line, "%s is %lld, want %lld", what, have, want);
}

// open_device makes the primary context of the first GPU current.
static inline CUcontext open_device(void) {
	CUdevice device;
	CUcontext context;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	return context;
}

#endif
