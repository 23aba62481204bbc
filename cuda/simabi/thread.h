// Per-thread state of the simulated driver. It is in C because Go cannot identify OS threads.
#ifndef REPRISE_SIMABI_THREAD_H
#define REPRISE_SIMABI_THREAD_H

#include <cuda.h>
#include <stdint.h>

// simabi_caller returns the state of the calling thread, and clears per_thread. Call it once in each call.
struct simabi_caller {
	uint64_t thread;     // number of the OS thread, from 1, never reused
	uint64_t per_thread; // 1 if the function was called by its _ptds or _ptsz name
	uint64_t in_host;    // 1 if the thread runs a host function, which must not call the driver
};

struct simabi_caller simabi_caller(void);

// simabi_called is the name of the driver function that the thread called last, with its
// suffixes, or NULL before the first call. simabi_calling returns it.
extern __thread const char *simabi_called __attribute__((tls_model("initial-exec")));
const char *simabi_calling(void);

// simabi_forked is 1 in a child of fork. Go cannot be called there: the child has none of the threads of Go's runtime, so
// that a call might wait forever.
extern int simabi_forked __attribute__((visibility("hidden")));

// simabi_ended removes the number of an ended thread from their list and returns it, or 0 if the list
// is empty. Only one thread may call it at a time.
uint64_t simabi_ended(void);

// simabi_lookup returns the address of the driver function with exactly this name, including suffixes,
// or NULL.
void *simabi_lookup(const char *symbol);

#endif
