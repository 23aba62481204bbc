// What C has to do for the simulated driver: per-thread state and calls to
// function pointers. Go cannot name an OS thread or call a C function pointer.
#ifndef REPRISE_SIMABI_THREAD_H
#define REPRISE_SIMABI_THREAD_H

#include <stdint.h>

// simabi_thread is a number for the calling OS thread, from 1, never used again.
uint64_t simabi_thread(void);

// simabi_ended takes the number of a thread that has ended off their list, 0 when it
// is empty. One caller at a time.
uint64_t simabi_ended(void);

// simabi_lookup is the address of the driver function of that exact name, suffix
// included, or NULL.
void *simabi_lookup(const char *symbol);

#endif
