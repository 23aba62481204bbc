// EXPORT(cuXxx) defines the driver's function cuXxx, which continues in simabi_cuXxx of
// package simabi with the arguments where they are. DEBUGGER and DEBUGGER_DATA define what a
// driver exports for debuggers, which find nothing here.
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

#define EXPORT(symbol) FUNCTION(symbol, JUMP(simabi_##symbol))
#define DEBUGGER(symbol) FUNCTION(symbol, ANSWER(19)) // an incompatible interface
#define DEBUGGER_DATA(symbol, bytes)   \
	.bss;                              \
	.balign 8;                         \
	.globl symbol;                     \
	.type symbol, %object;             \
	symbol: .zero bytes;               \
	.size symbol, bytes;

.section .note.GNU-stack, "", %progbits
