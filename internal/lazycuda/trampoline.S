//go:build ignore

// A trampoline for each function of cuda.h, as a procedure linkage table has them: it jumps through a
// slot, which at first leads to code that saves what the caller passed in registers, has
// lazycuda_resolve fill the slot, and goes there. Arguments on the stack stay where they are, so the
// trampolines are independent of the functions' parameters. Two instructions remain of it afterwards.

#if defined(__x86_64__)

	.macro trampoline symbol
	.globl \symbol
	.hidden \symbol
	.type \symbol, %function
	.p2align 4
\symbol:
	.cfi_startproc
	jmp *(lazycuda_table + 8 * index)(%rip)
first\@:
	movl $index, %r11d
	jmp resolve
	.cfi_endproc
	.size \symbol, . - \symbol
	slot first\@
	.endm

	// The arguments are in rdi, rsi, rdx, rcx, r8, r9 and xmm0 to xmm7; r11 has the index.
	.macro define_resolve
	.type resolve, %function
resolve:
	.cfi_startproc
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	subq $136, %rsp // eight vectors, and 8 bytes to align the stack
	.cfi_def_cfa_offset 192
	movaps %xmm0, 0(%rsp)
	movaps %xmm1, 16(%rsp)
	movaps %xmm2, 32(%rsp)
	movaps %xmm3, 48(%rsp)
	movaps %xmm4, 64(%rsp)
	movaps %xmm5, 80(%rsp)
	movaps %xmm6, 96(%rsp)
	movaps %xmm7, 112(%rsp)
	movl %r11d, %edi
	call lazycuda_resolve
	movq %rax, %r11
	movaps 0(%rsp), %xmm0
	movaps 16(%rsp), %xmm1
	movaps 32(%rsp), %xmm2
	movaps 48(%rsp), %xmm3
	movaps 64(%rsp), %xmm4
	movaps 80(%rsp), %xmm5
	movaps 96(%rsp), %xmm6
	movaps 112(%rsp), %xmm7
	addq $136, %rsp
	.cfi_def_cfa_offset 56
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	.cfi_def_cfa_offset 8
	jmp *%r11
	.cfi_endproc
	.size resolve, . - resolve
	.endm

#elif defined(__aarch64__)

	.macro trampoline symbol
	.globl \symbol
	.hidden \symbol
	.type \symbol, %function
	.p2align 4
\symbol:
	.cfi_startproc
	adrp x16, lazycuda_table + 8 * index
	ldr x16, [x16, #:lo12:lazycuda_table + 8 * index]
	br x16
first\@:
	mov w17, #index
	b resolve
	.cfi_endproc
	.size \symbol, . - \symbol
	slot first\@
	.endm

	// The arguments are in x0 to x7 and q0 to q7; x17 has the index.
	.macro define_resolve
	.type resolve, %function
resolve:
	.cfi_startproc
	stp x29, x30, [sp, #-208]!
	.cfi_def_cfa_offset 208
	.cfi_offset 29, -208
	.cfi_offset 30, -200
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	stp q0, q1, [sp, #80]
	stp q2, q3, [sp, #112]
	stp q4, q5, [sp, #144]
	stp q6, q7, [sp, #176]
	mov w0, w17
	bl lazycuda_resolve
	mov x16, x0
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldp q0, q1, [sp, #80]
	ldp q2, q3, [sp, #112]
	ldp q4, q5, [sp, #144]
	ldp q6, q7, [sp, #176]
	ldp x29, x30, [sp], #208
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc
	.size resolve, . - resolve
	.endm

#else
#error "lazycuda: this processor has no trampoline in trampoline.S yet"
#endif

	// The slot of the trampoline that is being defined, and the next one's index.
	.macro slot first
	.pushsection .data.lazycuda, "aw", %progbits
	.quad \first
	.popsection
	.set index, index + 1
	.endm

	.pushsection .data.lazycuda, "aw", %progbits
	.globl lazycuda_table
	.hidden lazycuda_table
	.p2align 3
lazycuda_table:
	.popsection

	.text
	define_resolve
	.set index, 0
#define SYMBOL(name, base, since) trampoline name
#include "symbols.def"

	.section .note.GNU-stack, "", %progbits
