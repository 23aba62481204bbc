// Package interp executes PTX kernels on the host: a kernel is lowered once to
// flat records and then run warp by warp, 32 lanes in lock step, with diverged
// lanes masked and reconverged at immediate post-dominators. It counts what a
// timing model needs and knows nothing of time itself.
//
// The way of a kernel:
//
//	ptx.Func ─► lower ─► segments of inst ─► reconvergence, liveness, slots ─► Run
//
// A register is 32 lanes side by side in the warp's register file, and an
// operand is the byte offset of a register: one record moves 32 values. A
// predicate is one 32-bit mask. Constants, parameters and special registers are
// registers too, filled before the first block, so that no record asks what kind
// of operand it has. A segment is a straight run of records; costs are summed per
// segment when the kernel is lowered, so that counting is paid once per segment
// and not once per instruction.
//
// What a launch leaves is what it would leave with its blocks run one after
// another, in grid order, except where blocks wait for each other. Most launches
// get there on all processors: blocks run side by side, each engine notes which
// bytes it touched and keeps the pages it stored to, and when all have ended and no
// engine touched what another wrote, the order did not matter. Else the pages
// are put back and the blocks run in order. Atomic operations whose result
// nobody reads are put down and applied in grid order at the end, so that float sums
// repeat. Kernels whose blocks see each other's progress, by the results of
// atomic operations or by volatile and other strong accesses to global memory, run
// in grid order from the start; when a block only polls, the next one gets a turn.
//
// Not supported, and a fault that names the instruction when such a kernel is
// launched: separate samplers, mipmaps, texel offsets, formatted surface accesses, sparse matrices, wgmma and
// tcgen05, bulk and tensor copies, and clusters of more than one block. A cube is
// filtered within its faces.
package interp
