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
// Blocks run one after another in grid order, so that even a kernel whose blocks
// race has one result, unless the launch allows more workers; a kernel with
// atomics or volatile accesses to global memory keeps the order all the same.
//
// Not supported, and a fault that names the instruction when such a kernel is
// launched: textures and surfaces, matrix instructions, bfloat16 arithmetic,
// asynchronous copies and mbarriers, malloc on the device. vprintf is accepted
// and prints nothing. Blocks that wait for later blocks, as cooperative launches
// do, end in a Timeout fault. Lanes that are to meet in a warp-wide instruction must do so at one place of the code; hardware
// since compute capability 7.0 also lets them meet at two.
package interp
