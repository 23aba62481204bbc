//go:build cuda

#include "thread.h"

#include <stdatomic.h>

static atomic_uint_fast64_t threads;
static __thread uint64_t mine;

uint64_t simabi_thread(void) {
	if (mine == 0)
		mine = atomic_fetch_add(&threads, 1) + 1;
	return mine;
}
