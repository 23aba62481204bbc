// EXPORT(cuXxx) defines the driver's function cuXxx, which continues in sim_cuXxx of
// package simabi with the arguments where they are.
#if defined(__x86_64__)
#define JUMP(to) jmp to@PLT
#elif defined(__aarch64__)
#define JUMP(to) b to
#else
#error "libcudasim: this processor has no JUMP in export.h yet"
#endif

#define EXPORT(symbol)                 \
	.text;                             \
	.globl symbol;                     \
	.type symbol, %function;           \
	symbol: JUMP(sim_##symbol);        \
	.size symbol, .- symbol;

.section .note.GNU-stack, "", %progbits
