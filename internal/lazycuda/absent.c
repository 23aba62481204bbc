//go:build ignore

// The driver API of a machine without a driver: there are 0 devices, names of results work,
// and all other functions return CUDA_ERROR_NO_DEVICE, or the result of a cuInit that failed.

#include "lazycuda.h"
#include "resolve.h"

#include <string.h>

static CUresult no_device(void) {
    CUresult result = lazycuda_init_result();
    return result == CUDA_ERROR_NOT_INITIALIZED ? CUDA_ERROR_NO_DEVICE : result;
}

static CUresult count(int *count) {
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = 0;
    return CUDA_SUCCESS;
}

// Version 0 means that there is no driver, as in NVIDIA's runtime.
static CUresult version(int *version) {
    return count(version);
}

static CUresult name(CUresult result, const char **text) {
    if (text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    switch (result) {
#define RESULT(name, description) \
    case name: *text = #name; break;
#include "results.def"
#undef RESULT
    }
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult description(CUresult result, const char **text) {
    if (text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    switch (result) {
#define RESULT(name, description) \
    case name: *text = description; break;
#include "results.def"
#undef RESULT
    }
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void *lazycuda_absent(const char *symbol) {
    static const struct {
        const char *symbol;
        void *function;
    } known[] = {
        {"cuDeviceGetCount", (void *)count},
        {"cuDriverGetVersion", (void *)version},
        {"cuGetErrorName", (void *)name},
        {"cuGetErrorString", (void *)description},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(symbol, known[i].symbol) == 0)
            return known[i].function;
    return (void *)no_device;
}
