// What C has to do for the simulated driver: per-thread state. Go cannot name an OS thread.
#ifndef REPRISE_SIMABI_THREAD_H
#define REPRISE_SIMABI_THREAD_H

#include <cuda.h>
#include <stdint.h>

// simabi_caller says who calls the driver and how. It may be asked once a call.
struct simabi_caller {
	uint64_t thread;     // a number for the OS thread, from 1, never used again
	uint64_t per_thread; // the function was called by its _ptds or _ptsz name
	uint64_t in_host;    // the driver has called the thread, which must not call back
};

struct simabi_caller simabi_caller(void);

// simabi_called is the name of the driver function that the thread has called last, with its
// suffixes; NULL before the first. simabi_calling returns it.
extern __thread const char *simabi_called __attribute__((tls_model("initial-exec")));
const char *simabi_calling(void);

// simabi_forked says that this process is the child of a fork. It has none of the threads of
// Go's runtime, which would sooner or later wait for one of them.
extern int simabi_forked __attribute__((visibility("hidden")));

// simabi_ended takes the number of a thread that has ended off their list, 0 when it
// is empty. One caller at a time.
uint64_t simabi_ended(void);

// simabi_lookup is the address of the driver function of that exact name, suffix
// included, or NULL.
void *simabi_lookup(const char *symbol);

#endif
