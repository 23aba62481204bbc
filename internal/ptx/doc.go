// Package ptx reads PTX, the virtual assembly that nvcc and clang emit. It parses, checks, links
// and prints modules. Package access infers what their kernels do to memory.
//
// The syntax tree is flat. The parser resolves the nested scopes of a function: it renames and
// numbers registers and labels. A function body is one slice of instructions, a register is an
// index into a table, and a branch target is an index into the body.
package ptx
