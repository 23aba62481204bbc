// Threads on which functions of the program run. They are not threads of Go's runtime: a function may end its
// thread, and a call from Go would then never return.
#ifndef REPRISE_SIMABI_HOSTTHREAD_H
#define REPRISE_SIMABI_HOSTTHREAD_H

#include <cuda.h>
#include <stdint.h>

// simabi_call_host and simabi_call_back call a function of the program. They return when the function has
// returned or has ended its thread.
void simabi_call_host(void (*function)(void *), void *data);
void simabi_call_back(CUstreamCallback function, CUstream stream, CUresult status, void *data);

// simabi_in_host returns 1 on a thread that runs such functions, else 0.
uint64_t simabi_in_host(void);

#endif
