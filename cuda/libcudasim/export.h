// EXPORT(cuXxx) defines the driver's function cuXxx, which continues in sim_cuXxx of
// package simabi with the arguments where they are. MISSING(cuXxx) defines one that
// answers CUDA_ERROR_NOT_SUPPORTED.
#if defined(__x86_64__)
#define JUMP(to) jmp to@PLT
#define ANSWER(code) movl $code, %eax; ret
#elif defined(__aarch64__)
#define JUMP(to) b to
#define ANSWER(code) mov w0, code; ret
#else
#error "libcudasim: this processor has no JUMP in export.h yet"
#endif

#define FUNCTION(symbol, body)         \
	.text;                             \
	.globl symbol;                     \
	.type symbol, %function;           \
	symbol: body;                      \
	.size symbol, .- symbol;

#define EXPORT(symbol) FUNCTION(symbol, JUMP(sim_##symbol))
#define MISSING(symbol) FUNCTION(symbol, ANSWER(801))

.section .note.GNU-stack, "", %progbits
