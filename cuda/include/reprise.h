/* What Reprise's library has beside the driver API. */
#ifndef REPRISE_H
#define REPRISE_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds on the clock that the calls of this process take time on: the simulator's virtual
 * one if that answers them, else CLOCK_MONOTONIC. Only differences mean something. */
uint64_t repriseNow(void);

/* How many calls of driver functions the process has made, without those that look something up in
 * a table: versions, names of errors, occupancy. 0 when a GPU's driver answers, which does not count. */
uint64_t repriseCalls(void);

/* Whether calls are counted from now on, which takes longer than a call of a driver that does
 * nothing. At first they are, and where a simulator answers always. */
void repriseCount(int on);

/* Names what the next call of this thread makes, the module it loads or the work it enqueues
 * or adds to a graph, for the simulator's errors. A GPU's driver answers 801. */
CUresult repriseLabel(const char *name);

/* What the simulator knows about the last call of the process that failed. Texts that are
 * too long are cut. */
typedef struct repriseError {
    CUresult code;
    char detail[1024]; /* "" when the code says it all */

    /* Where a kernel failed; kernel is "" when none did. */
    char kernel[256], label[256];
    unsigned int block[3], thread[3];
    int refused;                 /* no thread ran: block and thread say nothing */
    char file[256], source[256]; /* of the PTX, and what it was compiled from */
    int line;                    /* of the PTX, 0 when no instruction is to blame */
    uint64_t address;
    char reason[1024];
} repriseError;

/* A GPU's driver answers 801. */
CUresult repriseLastError(repriseError *error);

#ifdef __cplusplus
}
#endif

#endif
