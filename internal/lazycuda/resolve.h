#ifndef REPRISE_LAZYCUDA_RESOLVE_H
#define REPRISE_LAZYCUDA_RESOLVE_H

/* Functions shared by the parts of libcuda.a. They are hidden from programs. */
#pragma GCC visibility push(hidden)

/* Returns the function that the trampoline with this name jumps to; never NULL. */
void *lazycuda_find(const char *symbol);

/* Returns the function that replaces symbol if there is no driver; never NULL. */
void *lazycuda_absent(const char *symbol);

#pragma GCC visibility pop

#endif
