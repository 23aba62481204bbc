#ifndef REPRISE_SIMABI_ERRORS_H
#define REPRISE_SIMABI_ERRORS_H

#include <cuda.h>

// These two need no cuInit, and answer in a child of fork, too.
CUresult sim_cuGetErrorName(CUresult code, const char **name);
CUresult sim_cuGetErrorString(CUresult code, const char **text);

// simabi_refuse_child answers a call of a child of fork.
CUresult simabi_refuse_child(const char *function);

#endif
