package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// extremes are values that a file may give a figure.
var extremes = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.SmallestNonzeroFloat64, 1e-320, 1e-300, 1e-9, math.MaxFloat64, 1e300, 1e19, 1 << 62}

// TestFiguresHaveBounds sets every figure to values beyond them. The error names the figure, the value and the bounds.
func TestFiguresHaveBounds(t *testing.T) {
	for _, f := range Figures() {
		for _, v := range extremes {
			p := anH200(t)
			before := f.Of(&p)
			err := f.Set(&p, v)
			if err == nil { // a time, which is rounded to a picosecond
				assert.Less(t, math.Abs(v), 1e-3, f.Name)
				continue
			}
			assert.ErrorContains(t, err, f.Name)
			assert.Equal(t, before, f.Of(&p), f.Name)
		}
	}
}

// TestEveryProfileEndsEveryTask runs tasks of every kind, huge ones too, on profiles of figures at and near their bounds.
func TestEveryProfileEndsEveryTask(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	for range 400 {
		p := anH200(t)
		for _, f := range Figures() {
			if r.IntN(4) > 0 {
				continue
			}
			v := []float64{f.Least, f.Most, leastPositive, 1, f.Least + 1}[r.IntN(5)]
			_ = f.Set(&p, v) // or it stays as it is
		}
		starts := 0
		e := New(&p, func(_ TaskID, data any) Demand {
			starts++
			return data.(Demand)
		})
		var last []TaskID
		const tasks = 12
		for i := range tasks {
			d := Demand{Kind: []DemandKind{Kernel, CopyIn, CopyOut, CopyOn, Fixed, Host, Marker}[r.IntN(7)], Bytes: math.Pow(2, float64(r.IntN(49)))}
			if d.Kind == Fixed {
				d.Duration = Time(r.Int64N(1 << 58))
			}
			if d.Kind == Kernel {
				d.Blocks, d.PerSM, d.BlockCycles = math.Pow(2, float64(r.IntN(60))), float64(1+r.IntN(32)), math.Pow(10, float64(r.IntN(12)))
				d.Work[r.IntN(len(d.Work))] = math.Pow(10, float64(r.IntN(19)))
				require.NoError(t, d.CheckKernel(&p))
			}
			id := e.Add(Task{Data: d, Deps: last})
			if i%3 > 0 {
				last = []TaskID{id}
			} else {
				last = nil
			}
		}
		_, ok := e.TryReach(e.Mark())
		require.True(t, ok, "%+v", p)
		require.Equal(t, tasks, starts)
	}
}

func anH200(t *testing.T) Profile {
	p, err := Lookup("h200")
	require.NoError(t, err)
	return *p
}
