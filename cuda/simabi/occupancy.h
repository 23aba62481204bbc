#ifndef REPRISE_SIMABI_OCCUPANCY_H
#define REPRISE_SIMABI_OCCUPANCY_H

#include <cuda.h>

// simabi_shared_size returns the dynamic shared memory of a block with the given number of threads, in bytes: the
// result of the program's function, or `otherwise` if there is none.
size_t simabi_shared_size(CUoccupancyB2DSize size, int threads, size_t otherwise);

#endif
