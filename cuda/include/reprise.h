/* Functions of Reprise's libraries in addition to the driver API. */
#ifndef REPRISE_H
#define REPRISE_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clock on which driver calls take time, in nanoseconds: the virtual time of the simulator, or
 * CLOCK_MONOTONIC with another driver. Only differences are meaningful. */
uint64_t repriseNow(void);

/* Advances the simulator's clock to a time of repriseNow, as if the host had waited until then for
 * something else, such as a message of another process. It has no effect if the time has passed, before
 * cuInit, or with another driver. */
void repriseWaitUntil(uint64_t time);

/* The number of calls of driver functions in this process. Functions that only look up a table are
 * not counted: versions, names of errors, occupancy. It is 0 with a GPU's driver, which does not count. */
uint64_t repriseCalls(void);

/* Switches the counting of calls on (1) or off (0). It is on at first. Counting takes longer than a
 * call of the null driver, the only one that can be switched off. */
void repriseCount(int on);

/* Sets a name for errors of the simulator. It applies to the next call of this thread: to the module
 * that it loads, or the work that it enqueues or adds to a graph. Returns CUDA_ERROR_NOT_SUPPORTED
 * (801) with a GPU's driver. */
CUresult repriseLabel(const char *name);

/* Details of the last call of the process that failed. Texts that are too long are truncated. */
typedef struct repriseError {
    CUresult code;
    char detail[1024]; /* "" if there are none beyond the code */

    /* The position of a fault in a kernel; kernel is "" if no kernel failed. */
    char kernel[256], label[256];
    unsigned int block[3], thread[3];
    int refused;                 /* 1 if no thread ran: block and thread have no meaning */
    char file[256], source[256]; /* name of the PTX, and position in the source it was compiled from */
    int line;                    /* of the PTX; 0 if no instruction caused the fault */
    uint64_t address;
    char reason[1024];
} repriseError;

/* Stores the details of the last failure. Returns CUDA_ERROR_NOT_SUPPORTED (801) with a GPU's driver. */
CUresult repriseLastError(repriseError *error);

#ifdef __cplusplus
}
#endif

#endif
