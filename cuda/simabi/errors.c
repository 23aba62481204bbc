//go:build cuda

#include "errors.h"

#include <stddef.h>

const char *simabi_error_name(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return #name;
#include "../lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}

const char *simabi_error_string(CUresult code) {
	switch (code) {
#define RESULT(name, text) \
	case name: return text;
#include "../lazycuda/results.def"
#undef RESULT
	}
	return NULL;
}
