//go:build cuda && cgo

#include "errors.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name_of(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return #name;
#include "../../internal/lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}

static const char *text_of(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return text;
#include "../../internal/lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}

// refused explains an error in the format of explain.go. It is in C because a child of fork cannot call Go.
static CUresult refused(CUresult code, const char *function, const char *why) {
	if (getenv("REPRISE_SIM_VERBOSE") && *getenv("REPRISE_SIM_VERBOSE"))
		fprintf(stderr, "libcudasim: %s: %s (%d): %s\n", function, name_of(code), code, why);
	return code;
}

CUresult simabi_refuse_child(const char *function) {
	return refused(CUDA_ERROR_NOT_INITIALIZED, function,
		"this process is a child of fork, in which the simulator does not work: call the driver only in the parent, or call exec in the child");
}

// put stores the text for a code. The text is NULL if the code is unknown.
static CUresult put(const char *function, const char **to, const char *text) {
	if (!to)
		return refused(CUDA_ERROR_INVALID_VALUE, function, "the result pointer is null: pass the address of a const char *");
	*to = text;
	if (!text)
		return refused(CUDA_ERROR_INVALID_VALUE, function,
			"the code is not a result of the driver: pass a CUresult that a driver function returned");
	return CUDA_SUCCESS;
}

//export sim_cuGetErrorName
CUresult sim_cuGetErrorName(CUresult code, const char **name) { return put("cuGetErrorName", name, name_of(code)); }

//export sim_cuGetErrorString
CUresult sim_cuGetErrorString(CUresult code, const char **text) { return put("cuGetErrorString", text, text_of(code)); }
