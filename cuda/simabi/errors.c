//go:build cuda

#include "errors.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name_of(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return #name;
#include "../lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}

static const char *text_of(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return text;
#include "../lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}

// put stores a text, which is null when there is none for a code. It explains a refusal as
// explain.go does, without Go, which a child of fork cannot call.
static CUresult put(const char *function, const char **to, const char *text) {
	if (to)
		*to = text;
	if (to && text)
		return CUDA_SUCCESS;
	if (getenv("REPRISE_SIM_VERBOSE") && *getenv("REPRISE_SIM_VERBOSE"))
		fprintf(stderr, "libcudasim: %s: CUDA_ERROR_INVALID_VALUE (1): %s\n", function,
			to ? "the code is none of the driver's: pass a CUresult that a driver function returned"
			   : "the result pointer is null: pass the address of a const char *");
	return CUDA_ERROR_INVALID_VALUE;
}

//export sim_cuGetErrorName
CUresult sim_cuGetErrorName(CUresult code, const char **name) { return put("cuGetErrorName", name, name_of(code)); }

//export sim_cuGetErrorString
CUresult sim_cuGetErrorString(CUresult code, const char **text) { return put("cuGetErrorString", text, text_of(code)); }
