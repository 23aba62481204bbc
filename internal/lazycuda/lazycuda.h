/* The driver API without a driver: libcuda.a defines every function of cuda.h as a trampoline to a
 * provider, which is selected at the first call. See doc.go. */
#ifndef REPRISE_LAZYCUDA_H
#define REPRISE_LAZYCUDA_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the simulator for REPRISE_LIBCUDA=sim: a function that returns a driver function by
 * its symbol, or NULL. Call it from the constructor of a library: it has no effect after the first
 * call of a driver function. */
void lazycuda_provide_sim(void *(*lookup)(const char *symbol));

/* The provider: "sim", the path of the library that was opened, or "" if there is no driver. */
const char *lazycuda_provider(void);

/* The reason why there is no driver; "" if there is one. */
const char *lazycuda_problem(void);

/* 1 if the provider is a simulator, in this program or in a library, else 0. Only simulators
 * implement the functions of reprise.h. */
int lazycuda_simulated(void);

/* The provider's result of cuInit; callers of cuInit always get CUDA_SUCCESS. It is
 * CUDA_ERROR_NOT_INITIALIZED before cuInit, and CUDA_ERROR_NO_DEVICE without a provider. */
CUresult lazycuda_init_result(void);

#ifdef __cplusplus
}
#endif

#endif
