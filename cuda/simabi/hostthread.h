// Threads on which functions of the program run. They are not Go's: a function may end its
// thread, and a thread of Go's that ends so would never return to its caller.
#ifndef REPRISE_SIMABI_HOSTTHREAD_H
#define REPRISE_SIMABI_HOSTTHREAD_H

#include <cuda.h>
#include <stdint.h>

// simabi_call_host and simabi_call_back call a function of the program's and return when it has
// returned or has ended its thread.
void simabi_call_host(void (*function)(void *), void *data);
void simabi_call_back(CUstreamCallback function, CUstream stream, CUresult status, void *data);

// simabi_in_host is 1 on a thread that runs such a function, else 0.
uint64_t simabi_in_host(void);

#endif
