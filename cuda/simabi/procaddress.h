#ifndef REPRISE_SIMABI_PROCADDRESS_H
#define REPRISE_SIMABI_PROCADDRESS_H

#include <cuda.h>

// simabi_proc_address is the form of a function that a program of that CUDA release
// means by its name without suffixes; NULL, and why, when there is none.
void *simabi_proc_address(const char *base, int release, int per_thread, CUdriverProcAddressQueryResult *why);

#endif
