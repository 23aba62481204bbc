// Package distribute turns a program for one device into a plan for several devices and processes. It is a pure function of
// the graph and of the layout of the machine, so that every process computes the same plan.
//
//	ir.Graph ─► split ─► scan (coherence) ─► exchanges ─► waits ─► Plan
//	            chunks    transfers           messages     events
//
// A step is one replay of the graph. A chunk is a contiguous range of the blocks of a launch, linear with x fastest, that
// runs on one device. The bytes that a chunk accesses follow from the PTX of its kernel: package internal/ptx/access
// evaluates the kernel for a box of blocks. Nothing is declared.
//
// The scan simulates step after step and records for each byte of each buffer which devices hold it fresh. A chunk that
// reads bytes that are not fresh on its device gets them by a transfer. The steps repeat as soon as the state before a
// step equals that before an earlier step. A plan is therefore a list of rounds, one for each different step, the last
// ones of which repeat.
package distribute
