package solver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

// The bounds hold the spectrum, but for the lower one by as much as Lanczos' method is off after as
// many steps as it takes. Preconditioned, it is that of the symmetric matrix.
func TestBoundsOfTheSpectrum(t *testing.T) {
	for name, a := range map[string]*sparse.CSR{
		"square": generate("poisson2d:12"), "cube": generate("poisson3d:5"), "random": generate("spd:90,9,2"), "one": generate("poisson2d:1"),
	} {
		for _, pre := range []Preconditioner{None, Jacobi} {
			o := Options{Method: Chebyshev, Preconditioner: pre}
			p, err := newProblem(a, random(a.Rows, 1), &o)
			require.NoError(t, err)
			least, greatest := spectrum(p.a, p.inverse)

			full := dense(p.a)
			var eigen mat.Eigen
			require.True(t, eigen.Factorize(full, mat.EigenNone))
			want := [2]float64{real(eigen.Values(nil)[0]), 0}
			for _, v := range eigen.Values(nil) {
				assert.InDelta(t, 0, imag(v), 1e-6)
				want = [2]float64{min(want[0], real(v)), max(want[1], real(v))}
			}
			assert.GreaterOrEqual(t, greatest, want[1]*(1-1e-9), "%s, %v", name, pre)
			assert.InEpsilon(t, want[0], least, 0.02, "%s, %v", name, pre)
		}
	}
}
