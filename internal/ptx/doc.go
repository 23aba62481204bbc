// Package ptx reads PTX, the virtual assembly that nvcc and clang emit: it
// parses and checks a module, gives kernel signatures, and infers what each
// kernel does with the memory behind its pointer parameters. It imports
// nothing of this module and runs nothing.
//
// A footprint says which bytes a launch reaches:
//
//	Func ─► flat ─► cfg ─► ssa, facts ─► nodes ─► Footprint.Eval
//
// The kernel with its calls in place is cut into blocks; the values that addresses
// depend on are built from the addresses backwards, with the branch
// conditions that hold where they are used; and they become operations on intervals,
// which a launch evaluates.
//
// The syntax tree is flat: a function's nested scopes are resolved while
// parsing (registers and labels are renamed apart and numbered), so a function
// body is one slice of instructions, a register is an index into a table and a
// branch target is an index into the body.
package ptx
