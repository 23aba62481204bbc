//go:build cuda && cgo

#include "occupancy.h"
#include "thread.h"

// The function may call the driver. simabi_called is restored afterwards, so that an explanation names the outer call.
size_t simabi_shared_size(CUoccupancyB2DSize size, int threads, size_t otherwise) {
	const char *called = simabi_called;
	size_t shared = size ? size(threads) : otherwise;
	simabi_called = called;
	return shared;
}
