package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func TestPlaneMean(t *testing.T) {
	requireSignature(t, "plane_mean")
	for _, c := range []struct {
		planes, places int
		want           uint32
	}{{1, 49, 1}, {512, 49, 64}, {100_000, 1, 448}} {
		got, err := PlaneMeanShape(448, 256, c.planes, c.places)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: ir.Dim3{X: c.want, Y: 1, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}}, got)
	}
	_, err := PlaneMeanShape(8, 48, 100, 49)
	assert.EqualError(t, err, "plane_mean: 48 threads per block: its warp shuffles need a multiple of 32")
	_, err = PlaneMeanShape(8, 32, 46341, 46341)
	assert.ErrorContains(t, err, "plane_mean: 46341 x 46341 elements")
}
