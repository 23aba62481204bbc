package bench

import (
	"errors"

	"github.com/reprise-gpu/reprise/cuda/kernels"
)

// Params.AsSuite puts back what the GrCUDA suite does otherwise and its published times
// may depend on, so that how much they do can be measured:
//
//	img   unsharpen is declared to write the image, which it only reads
//	hits  both products take one matrix, where one should take the transpose
//	dl    pooling has a quarter of the number of blocks along each axis, most of them with nothing to do
//
// The results are others then, so it is for sampled devices, which have none.

var errSuiteResults = errors.New("what the suite does otherwise leads to other results, which nothing checks: it is for sampled devices alone")

// unsharpenAsSuite is the signature of unsharpen in the suite.
const unsharpenAsSuite = "x: inout f32*, y: in f32*, out: out f32*, amount: f32, n: i32"

// poolAsSuite is the shape of a pooling kernel in the suite.
func poolAsSuite(s kernels.Shape, blocks int) kernels.Shape {
	n := uint32(blocks)
	s.Grid.X, s.Grid.Y, s.Grid.Z = n, n, n
	return s
}
