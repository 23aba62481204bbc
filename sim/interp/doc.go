// Package interp executes PTX kernels on the host: a kernel is lowered once to
// flat records and then run warp by warp, 32 lanes in lock step, with diverged
// lanes masked and reconverged at immediate post-dominators. It counts what a
// timing model needs and knows nothing of time itself.
package interp
