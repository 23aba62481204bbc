#ifndef REPRISE_SIMABI_OCCUPANCY_H
#define REPRISE_SIMABI_OCCUPANCY_H

#include <cuda.h>

// simabi_shared_size is what a program's function says that blocks need, or otherwise
// when there is no function.
size_t simabi_shared_size(CUoccupancyB2DSize size, int threads, size_t otherwise);

#endif
