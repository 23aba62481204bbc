// Package interp executes PTX kernels on the host: a kernel is lowered once to
// flat records and then run warp by warp, 32 lanes in lock step, with diverged
// lanes masked and reconverged at immediate post-dominators. It counts what a
// timing model needs; it does not model time.
//
// The stages of a kernel:
//
//	ptx.Func ─► lower ─► segments of inst ─► reconvergence, liveness, slots ─► Run
//
// A register is 32 lanes side by side in the warp's register file, and an
// operand is the byte offset of a register: one record moves 32 values. A
// predicate is one 32-bit mask. Constants, parameters and special registers are
// registers too, filled before the first block: a record does not test the kind of
// an operand. A segment is a straight run of records; costs are summed per
// segment when the kernel is lowered, so counting costs once per segment
// and not once per instruction.
//
// The result of a launch equals that of its blocks run one after
// another, in grid order, except where blocks wait for each other. Most launches
// use all processors: blocks run concurrently, each engine records which
// bytes it touched and keeps the pages it stored to, and when all have ended and no
// engine touched what another wrote, the order did not matter. Otherwise the pages
// are restored and the blocks run in order. Atomic operations whose result
// is not used are logged and applied in grid order at the end, so that float sums
// repeat. Kernels whose blocks see each other's progress, by the results of
// atomic operations or by volatile and other strong accesses to global memory, run
// in grid order from the start; if a block only polls, the next one gets a turn.
//
// Some instructions are not supported. A launch of a kernel with one of them is a
// fault that names it: separate samplers, mipmaps, texel offsets, formatted surface accesses, sparse matrices, wgmma and
// tcgen05, bulk and tensor copies, and clusters of more than one block. A cube is
// filtered within its faces.
package interp
