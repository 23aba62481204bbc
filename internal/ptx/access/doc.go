// Package access infers what a PTX kernel does to the memory behind its pointer parameters.
//
// [Infer] finds, for each parameter, whether the kernel reads or writes through it. [Signature]
// uses the result to tell pointers from numbers, and [CheckDeclared] compares it with a signature
// that the programmer wrote. [NewFootprint] also finds which bytes a launch reaches:
//
//	ptx.Func ─► flat ─► cfg ─► ssa, facts ─► nodes ─► Footprint.Eval
//
// flat inlines the calls and cfg cuts the result into basic blocks. Values are then built backwards
// from the addresses, with the branch conditions that hold where they are used. They become
// operations on intervals, which Eval computes for one launch.
//
// These results are upper bounds: an access that is not understood counts as a read and a write of
// everything. [Footprint.Outside] finds accesses that are certain.
package access
