// A driver of eight functions, of CUDA 11 as far as kernel nodes go. They remember what they were given.
#define CUDA_VERSION 11080
#include <cuda.h>
#include <stdlib.h>

int given_dims[6];
const void *given_pointers[4];
unsigned int given_shared;
float given_floats[2];

CUresult cuInit(unsigned int flags) {
    const char *result = getenv("DRIVER_INIT");
    return flags ? CUDA_ERROR_INVALID_VALUE : result ? (CUresult)atoi(result) : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    *version = 12020;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    *count = 3;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = (int)attribute * 1000 + device;
    return CUDA_SUCCESS;
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref texture, float bias) {
    given_pointers[0] = texture;
    given_floats[0] = bias;
    return CUDA_SUCCESS;
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float low, float high) {
    given_pointers[0] = texture;
    given_floats[0] = low;
    given_floats[1] = high;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
    const CUDA_KERNEL_NODE_PARAMS *params) {
    *node = (CUgraphNode)0x77;
    given_pointers[0] = graph;
    given_pointers[1] = after;
    given_pointers[2] = params;
    given_dims[0] = (int)n;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared, CUstream stream,
    void **params, void **extra) {
    given_pointers[0] = f;
    given_pointers[1] = stream;
    given_pointers[2] = params;
    given_pointers[3] = extra;
    int dims[] = {(int)gx, (int)gy, (int)gz, (int)bx, (int)by, (int)bz};
    for (int i = 0; i < 6; i++)
        given_dims[i] = dims[i];
    given_shared = shared;
    return (CUresult)719;
}
