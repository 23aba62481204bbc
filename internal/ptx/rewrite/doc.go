// Package rewrite changes PTX kernels so that launches can be cut into parts and joined into
// one. A rewrite is a pure function of a module: PTX in, PTX out.
//
//	Range   one launch runs consecutive blocks of a larger grid
//	Tile    one launch runs a box of the blocks of a larger grid
//	Batch   one launch runs several launches of the same kernel, with arguments of their own
//	Fuse    one launch runs launches of different kernels
//
// The rewritten kernel computes the same bytes. Special registers that describe the grid have
// the values of the original launch, in called functions, too. A kernel for which that is
// impossible is refused with a *Refusal, which states the reason.
//
// # What stays visible
//
// %gridid is that of the new launch, so the parts of a launch share it; %smid, %clock and
// %globaltimer are those of the place and time at which a block runs. The same holds without a
// rewrite from launch to launch.
//
// # Accesses
//
// A rewritten kernel accesses what its parts access. Callers should declare the union of the
// accesses of the parts, with the help of Result.Params. Where the arguments are in a table in
// device memory, package access cannot follow a pointer that the kernel loads from it, and
// reports the kernel as opaque: the declaration of the parts is then the only one.
package rewrite
