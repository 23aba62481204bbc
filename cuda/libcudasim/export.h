// EXPORT(cuXxx) defines the driver's function cuXxx, which continues in sim_cuXxx of
// package simabi with the arguments where they are. It does not in a child of fork, which
// Go must not be called in and is answered CUDA_ERROR_NOT_INITIALIZED. EXPORT_C is for
// functions written in C, which are always called. DEBUGGER and DEBUGGER_DATA define what a
// driver exports for debuggers, which find nothing here.
#if defined(__x86_64__)
#define JUMP(to) jmp to@PLT
#define ANSWER(code) movl $code, %eax; ret
#define UNLESS_FORKED cmpl $0, simabi_forked(%rip); jne 1f;
#elif defined(__aarch64__)
#define JUMP(to) b to
#define ANSWER(code) mov w0, code; ret
#define UNLESS_FORKED adrp x16, simabi_forked; ldr w16, [x16, :lo12:simabi_forked]; cbnz w16, 1f;
#else
#error "libcudasim: this processor has no JUMP in export.h yet"
#endif

#define FUNCTION(symbol, body)         \
	.text;                             \
	.globl symbol;                     \
	.type symbol, %function;           \
	symbol: body;                      \
	.size symbol, .- symbol;

#define EXPORT(symbol) FUNCTION(symbol, UNLESS_FORKED JUMP(sim_##symbol); 1: ANSWER(3))
#define EXPORT_C(symbol) FUNCTION(symbol, JUMP(sim_##symbol))
#define DEBUGGER(symbol) FUNCTION(symbol, ANSWER(19)) // an incompatible interface
#define DEBUGGER_DATA(symbol, bytes)   \
	.bss;                              \
	.balign 8;                         \
	.globl symbol;                     \
	.type symbol, %object;             \
	symbol: .zero bytes;               \
	.size symbol, bytes;

.section .note.GNU-stack, "", %progbits
