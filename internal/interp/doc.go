// Package interp executes PTX kernels on the host. A kernel is lowered once to flat records
// and then run warp by warp, 32 lanes in lock step. Diverged lanes are masked and
// reconverge at immediate post-dominators. The package counts what a timing model needs; it
// does not model time.
//
// The stages of a kernel:
//
//	ptx.Func ─► lower ─► segments of inst ─► reconvergence, liveness, slots ─► Run
//
// # Registers
//
// A register is 32 lanes side by side in the warp's register file, and an operand is the
// byte offset of a register, so one record moves 32 values. A predicate is one 32-bit mask:
//
//	regs                                                     preds
//	0       128     256             512     640              0         1
//	│ %r1   │ %r2   │ %rd1          │ n     │ 4     │ …       │ 32 bits │ 32 bits │
//	│ 32×4  │ 32×4  │ 32×8          │ 32×4  │ 32×4  │
//	└── written by the kernel ──────┴── constant in a launch ──┘
//
//	add.s32 %r2, %r1, 4      inst{exec: addLanes[uint32], d: 128, a: 0, b: 640}
//
// Constants, parameters and special registers are registers too, filled before the first
// block: a record does not test the kind of an operand. A handler computes the lanes in
// warp.live. Handlers are generic functions over the lane type, selected when the kernel is
// lowered.
//
// # Control flow
//
// A segment is a straight run of records with an ending: a branch, a barrier, a call and
// others. Costs are summed per segment when the kernel is lowered, so counting costs once
// per segment and not once per instruction. divergence.go has the stack by which lanes
// reconverge.
//
// # Order of blocks
//
// The result of a launch equals that of its blocks run one after another, in grid order,
// except where blocks wait for each other. Most launches use all processors. Blocks then
// run concurrently, and each engine records which bytes it touched and keeps the old
// contents of the pages it stored to. If no engine touched a byte that another one wrote,
// the order of the blocks did not matter. Otherwise the pages are restored and the blocks
// run in order:
//
//	blocks 0 … 7   ─► engine 0 ─┐
//	blocks 8 … 15  ─► engine 1 ─┼─► clash? ─ no ──► apply the logged updates ─► done
//	blocks 16 … 23 ─► engine 0 ─┘         └─ yes ─► restore pages, run in grid order
//
// Atomic operations whose result is not used are logged and applied in grid order at the
// end, so that float sums are the same in every run. Some kernels have blocks that observe
// each other's progress, by the results of atomic operations or by volatile and other
// strong accesses to global memory. Their blocks run in grid order from the start; if a
// block only polls, the next one gets a turn.
//
// # Limits
//
// Some instructions are not supported. A launch of a kernel with one of them is a fault
// that names it: separate samplers, mipmaps, texel offsets, formatted surface accesses,
// sparse matrices, wgmma and tcgen05, bulk and tensor copies, and clusters of more than one
// block. A cube is filtered within its faces.
package interp
