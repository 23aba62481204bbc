// Package ptx reads PTX, the virtual assembly that nvcc and clang emit. It parses, checks,
// links and prints modules. Package access infers what their kernels do to memory.
//
//	text ─► scanner ─► parser ─► Module ─► Link ─► Module ─► Print ─► text
//	        tokens     names     flat               one
//	                   checks    functions          module
//
// The syntax tree is flat. The parser resolves the nested scopes of a function: it renames and
// numbers registers and labels. A function body is one slice of instructions, a register is an
// index into a table, and a branch target is an index into the body:
//
//	.reg .b32 %r<2>;                Regs    0 %r0   1 %r1   2 %r0__1
//	LOOP:                           Labels  LOOP → 0
//	add.u32 %r1, %r1, 1;            Body    0 add  %r1, %r1, 1
//	{ .reg .b32 %r0;                        1 mov  %r0__1, %r1
//	  mov.b32 %r0, %r1; }                   2 bra  LOOP, Target 0
//	bra LOOP;
//
// Checking is table driven. Three tables describe the instruction set, each in one string with
// a row for each opcode: opRows has operands, types and modifiers, formRows the combinations of
// modifiers that exist, and featureRows the least target and version. The latter two are as
// ptxas 11.8 accepts them. An error names the file, the line and the column; one call of Parse
// reports up to ten.
package ptx
