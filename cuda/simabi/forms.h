// The macros define functions that jump to other functions. Arguments stay in their registers and on the stack, so one
// macro suffices for all signatures.
//
// GATE(symbol) defines simabi_symbol, the function that programs call: by the driver's name in
// libcudasim, through cuGetProcAddress, or through a loader. It stores the name of the function, with
// its suffixes, in simabi_called, and jumps to sim_symbol. In a child of fork, where Go must not be called, it
// jumps to simabi_refuse_child. GATE_C is for functions written in C, which are always called.
//
// PER_THREAD(variant, of) defines the variant of a driver function for which the null stream is
// the thread's own: it sets a flag for simabi_caller and jumps to the function.
//
// ALSO(older, of) defines an older form of a function, which has the same arguments.
//
// MISSING(symbol) defines a function that the simulator does not implement.
#define FUNCTION(symbol, ...)       \
	.text;                          \
	.globl symbol;                  \
	.type symbol, %function;        \
	symbol: __VA_ARGS__;            \
	.size symbol, .- symbol;

#define NAME(symbol) .section .rodata; 8: .asciz symbol; .text;

#define GATE_C(symbol) .hidden simabi_##symbol; FUNCTION(simabi_##symbol, JUMP(sim_##symbol))

#if defined(__x86_64__)
#define JUMP(to) jmp to@PLT
#define GATE(symbol)                                             \
	.hidden simabi_##symbol;                                     \
	NAME(#symbol)                                                \
	FUNCTION(simabi_##symbol,                                    \
		leaq 8b(%rip), %r10;                                     \
		movq simabi_called@gottpoff(%rip), %r11;                 \
		movq %r10, %fs:(%r11);                                   \
		cmpl $0, simabi_forked(%rip);                            \
		jne 1f;                                                  \
		jmp sim_##symbol@PLT;                                    \
		1: movq %r10, %rdi;                                      \
		jmp simabi_refuse_child@PLT)
#define PER_THREAD(variant, of)                                  \
	FUNCTION(sim_##variant,                                      \
		movq simabi_per_thread@gottpoff(%rip), %rax;             \
		movq $1, %fs:(%rax);                                     \
		jmp sim_##of@PLT)
#define ALSO(older, of) FUNCTION(sim_##older, jmp sim_##of@PLT)
#define MISSING(symbol) NAME(#symbol) FUNCTION(sim_##symbol, leaq 8b(%rip), %rdi; jmp simabi_missing@PLT)
#elif defined(__aarch64__)
#define JUMP(to) b to
#define GATE(symbol)                                             \
	.hidden simabi_##symbol;                                     \
	NAME(#symbol)                                                \
	FUNCTION(simabi_##symbol,                                    \
		adrp x9, 8b;                                             \
		add x9, x9, :lo12:8b;                                    \
		mrs x16, tpidr_el0;                                      \
		adrp x17, :gottprel:simabi_called;                       \
		ldr x17, [x17, :gottprel_lo12:simabi_called];            \
		str x9, [x17, x16];                                      \
		adrp x16, simabi_forked;                                 \
		ldr w16, [x16, :lo12:simabi_forked];                     \
		cbnz w16, 1f;                                            \
		b sim_##symbol;                                          \
		1: mov x0, x9;                                           \
		b simabi_refuse_child)
#define PER_THREAD(variant, of)                                  \
	FUNCTION(sim_##variant,                                      \
		mrs x16, tpidr_el0;                                      \
		adrp x17, :gottprel:simabi_per_thread;                   \
		ldr x17, [x17, :gottprel_lo12:simabi_per_thread];        \
		add x17, x17, x16;                                       \
		mov x16, 1;                                              \
		str x16, [x17];                                          \
		b sim_##of)
#define ALSO(older, of) FUNCTION(sim_##older, b sim_##of)
#define MISSING(symbol) NAME(#symbol) FUNCTION(sim_##symbol, adrp x0, 8b; add x0, x0, :lo12:8b; b simabi_missing)
#else
#error "simabi: this processor has no PER_THREAD in forms.h yet"
#endif

.section .note.GNU-stack, "", %progbits
