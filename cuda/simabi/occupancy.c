//go:build cuda

#include "occupancy.h"

size_t simabi_shared_size(CUoccupancyB2DSize size, int threads, size_t otherwise) {
	return size ? size(threads) : otherwise;
}
