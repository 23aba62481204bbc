package bench

import "strings"

// Flops returns the number of floating-point operations of the matrix products of a replay, two for each product of
// elements. It is 0 for a workload without any.
func (in *Instance) Flops() (n float64) {
	for i := range in.Trace.Graph.Ops {
		l := in.Trace.Graph.Ops[i].Launch
		if l == nil || !strings.HasPrefix(l.Entry, "gemm_") || len(l.Args) < 6 {
			continue
		}
		extents := l.Args[3:6] // behind the matrices
		n += 2 * float64(extents[0].Scalar.Bits) * float64(extents[1].Scalar.Bits) * float64(extents[2].Scalar.Bits)
	}
	return n
}
