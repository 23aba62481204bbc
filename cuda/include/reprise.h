/* What Reprise's library has beside the driver API. */
#ifndef REPRISE_H
#define REPRISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds on the clock that the calls of this process take time on: the simulator's virtual
 * one if that answers them, else CLOCK_MONOTONIC. Only differences mean something. */
uint64_t repriseNow(void);

#ifdef __cplusplus
}
#endif

#endif
