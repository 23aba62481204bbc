//go:build ignore

#include "resolve.h"

#pragma GCC visibility push(hidden)

// One slot per trampoline, in trampoline.S.
extern void *lazycuda_table[];

static const char *const names[] = {
#define SYMBOL(name, base, since) #name,
#include "symbols.def"
#undef SYMBOL
};

// lazycuda_resolve is called by a trampoline on its first call. Concurrent calls all store the same address.
void *lazycuda_resolve(unsigned int index) {
    void *function = lazycuda_find(names[index]);
    __atomic_store_n(&lazycuda_table[index], function, __ATOMIC_RELEASE);
    return function;
}

#pragma GCC visibility pop
