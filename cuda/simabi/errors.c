//go:build cuda

#include "errors.h"

#include <stddef.h>

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

// put stores a text, which is null when there is none for a code.
static CUresult put(const char **to, const char *text) {
	if (!to)
		return CUDA_ERROR_INVALID_VALUE;
	*to = text;
	return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//export sim_cuGetErrorName
CUresult sim_cuGetErrorName(CUresult code, const char **name) { return put(name, name_of(code)); }

//export sim_cuGetErrorString
CUresult sim_cuGetErrorString(CUresult code, const char **text) { return put(text, text_of(code)); }
