// PER_THREAD(variant, of) defines the variant of a driver function for which the
// null stream is the thread's own: it says so to simabi_caller and goes on in the
// function with the arguments where they are.
#if defined(__x86_64__)
#define PER_THREAD(variant, of)                                \
	.text;                                                     \
	.globl variant;                                            \
	.type variant, %function;                                  \
	variant: movq simabi_per_thread@gottpoff(%rip), %rax;      \
	movq $1, %fs:(%rax);                                       \
	jmp of@PLT;                                                \
	.size variant, .- variant;
#elif defined(__aarch64__)
#define PER_THREAD(variant, of)                                \
	.text;                                                     \
	.globl variant;                                            \
	.type variant, %function;                                  \
	variant: mrs x16, tpidr_el0;                               \
	adrp x17, :gottprel:simabi_per_thread;                     \
	ldr x17, [x17, :gottprel_lo12:simabi_per_thread];          \
	add x17, x17, x16;                                         \
	mov x16, 1;                                                \
	str x16, [x17];                                            \
	b of;                                                      \
	.size variant, .- variant;
#else
#error "simabi: this processor has no PER_THREAD in perthread.h yet"
#endif

.section .note.GNU-stack, "", %progbits
