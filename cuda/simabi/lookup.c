//go:build cuda && cgo

#include "table.h"
#include "thread.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *symbol, const void *entry) {
	return strcmp(symbol, ((const struct simabi_entry *)entry)->symbol);
}

void *simabi_lookup(const char *symbol) {
	const struct simabi_entry *found =
		bsearch(symbol, simabi_table, simabi_table_length, sizeof *simabi_table, compare);
	return found ? found->function : NULL;
}

// The loader (internal/lazycuda) calls the registered lookup function if REPRISE_LIBCUDA=sim. The symbol is weak,
// because libcudasim contains no loader.
extern void lazycuda_provide_sim(void *(*lookup)(const char *)) __attribute__((weak));

__attribute__((constructor)) static void provide(void) {
	if (lazycuda_provide_sim)
		lazycuda_provide_sim(simabi_lookup);
}
