// Package access infers what a PTX kernel does to the memory behind its pointer
// parameters.
//
// [Infer] finds, for each parameter, whether the kernel reads or writes through it.
// [Signature] uses the result to distinguish pointers from numbers, and [CheckDeclared]
// compares it with a signature that the programmer wrote. [NewFootprint] also finds which
// bytes a launch reaches:
//
//	ptx.Func ─► flat ─► cfg ─► ssa, facts ─► nodes ─► Footprint.Eval
//
// flat inlines the calls and cfg cuts the result into basic blocks. Values are then built
// backwards from the addresses, with the branch conditions that hold where they are used.
// They become operations on intervals, which Eval computes for one launch. For example:
//
//	setp.ge.s32  %p1, %r4, %r5;      %r4 is ctaid.x*ntid.x + tid.x, %r5 is parameter n
//	@%p1 bra     EXIT;               below: the fact %r4 < n
//	mul.wide.s32 %rd2, %r4, 4;
//	add.s64      %rd3, %rd1, %rd2;   %rd1 is parameter x
//	st.global.f32 [%rd3], %f1;
//
//	         add                     [x, x+4·min(n, 256)-4], of which each store takes 4 bytes,
//	        /   \                    for 2 blocks of 128 threads, if n > 0
//	       x    mul
//	           /   \
//	      clamp     4                i < n narrows [0, 255] to [0, n-1]
//	     /     \
//	    i       n
//
// Eval is linear in the number of nodes and does not allocate, since the tracer calls it
// for each recorded launch.
//
// EvalBoxes also finds strides, so that column tiles of a matrix have no byte in common. It
// evaluates the nodes of such addresses a second time, as sets with strides (see strided).
//
// These results are upper bounds: an access that is not understood counts as a read and a
// write of everything. [Footprint.Outside] finds accesses that are certain.
package access
