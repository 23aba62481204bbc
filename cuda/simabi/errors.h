#ifndef REPRISE_SIMABI_ERRORS_H
#define REPRISE_SIMABI_ERRORS_H

#include <cuda.h>

// These functions require no cuInit, and also work in a child of fork.
CUresult sim_cuGetErrorName(CUresult code, const char **name);
CUresult sim_cuGetErrorString(CUresult code, const char **text);

// simabi_refuse_child returns the result of a call in a child of fork, and explains it.
CUresult simabi_refuse_child(const char *function);

#endif
