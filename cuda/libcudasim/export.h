// EXPORT(cuXxx) defines the driver's function cuXxx. It jumps to simabi_cuXxx of package simabi, so that all
// arguments stay in their registers and on the stack. DEBUGGER and DEBUGGER_DATA define the symbols that a
// driver exports for debuggers. Their functions return code 19, an incompatible interface.
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
