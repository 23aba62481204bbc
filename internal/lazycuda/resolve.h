#ifndef REPRISE_LAZYCUDA_RESOLVE_H
#define REPRISE_LAZYCUDA_RESOLVE_H

/* Between the parts of libcuda.a, which do not show outside of it. */
#pragma GCC visibility push(hidden)

/* The function that a trampoline with this name jumps to from its first call on; never NULL. */
void *lazycuda_find(const char *symbol);

/* The function that stands in for symbol where there is no driver. */
void *lazycuda_absent(const char *symbol);

#pragma GCC visibility pop

#endif
