/* The driver API without a driver: libcuda.a defines every function of cuda.h as a trampoline to a
 * provider, which is looked for at the first call. See doc.go. */
#ifndef REPRISE_LAZYCUDA_H
#define REPRISE_LAZYCUDA_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names the simulator that REPRISE_LIBCUDA=sim asks for: a function that finds a driver function by
 * its symbol, or answers NULL. For the constructor of a library; after the first call it is too
 * late. */
void lazycuda_provide_sim(void *(*lookup)(const char *symbol));

/* Where calls go: "sim", the path of the library that was opened, or "" if there is no driver. */
const char *lazycuda_provider(void);

/* Why there is no driver; "" if there is one. */
const char *lazycuda_problem(void);

/* Whether the provider is a simulator, in this program or a library: only those have reprise.h. */
int lazycuda_simulated(void);

/* What the provider answered to cuInit, which tells its caller success. CUDA_ERROR_NOT_INITIALIZED
 * before that, CUDA_ERROR_NO_DEVICE without a provider. */
CUresult lazycuda_init_result(void);

#ifdef __cplusplus
}
#endif

#endif
