#ifndef REPRISE_SIMABI_PROCADDRESS_H
#define REPRISE_SIMABI_PROCADDRESS_H

#include <cuda.h>

// simabi_proc_address returns the form of a function that a program compiled for a CUDA release
// expects under its name without suffixes. It returns NULL, and stores the reason in why, if there is none.
void *simabi_proc_address(const char *base, int release, int per_thread, CUdriverProcAddressQueryResult *why);

#endif
