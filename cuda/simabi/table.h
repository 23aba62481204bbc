#ifndef REPRISE_SIMABI_TABLE_H
#define REPRISE_SIMABI_TABLE_H

#include <stddef.h>

struct simabi_entry {
	const char *symbol;
	void *function;
};

// Sorted by symbol, as strcmp does.
extern const struct simabi_entry simabi_table[];
extern const size_t simabi_table_length;

#endif
