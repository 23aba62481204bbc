#ifndef REPRISE_SIMABI_ERRORS_H
#define REPRISE_SIMABI_ERRORS_H

#include <cuda.h>

// simabi_error_name is the identifier of a result code, or NULL.
const char *simabi_error_name(CUresult code);

// simabi_error_string is what it means, or NULL.
const char *simabi_error_string(CUresult code);

#endif
