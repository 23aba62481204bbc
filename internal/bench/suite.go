package bench

import (
	"errors"

	"github.com/reprise-gpu/reprise/internal/kernels"
)

// Params.AsSuite restores what the GrCUDA suite does differently and its published times may depend on, so that the
// effect can be measured:
//
//	img   unsharpen is declared to write the image, which it only reads
//	hits  both products use the same matrix, although one should use the transpose
//	dl    pooling has a quarter of the number of blocks along each axis, most of them without work
//
// The results then differ, so AsSuite requires a sampled device, which computes no results.

var errSuiteResults = errors.New("AsSuite gives results that cannot be checked: use it only with a sampled device")

// unsharpenAsSuite is the signature of unsharpen in the suite.
const unsharpenAsSuite = "x: inout f32*, y: in f32*, out: out f32*, amount: f32, n: i32"

// poolAsSuite is the shape of a pooling kernel in the suite.
func poolAsSuite(s kernels.Shape, blocks int) kernels.Shape {
	n := uint32(blocks)
	s.Grid.X, s.Grid.Y, s.Grid.Z = n, n, n
	return s
}
