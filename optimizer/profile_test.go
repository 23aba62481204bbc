package optimizer

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// numbers calls f with each number of a struct, and of those in it, by name.
func numbers(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			numbers(v.Index(i), name, f)
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		f(name, v)
	}
}

// TestPlansForAnyFiguresEnd sets each number of a profile made in code to values that no device has: a plan is made, or the
// figure is refused.
func TestPlansForAnyFiguresEnd(t *testing.T) {
	g := graphOf(t, "g", 3, []edge{{0, 1}, {0, 2}})
	g.Ops[1] = ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{Entry: "k", Grid: ir.Dim3{X: 66, Y: 1, Z: 1}, Block: ir.Dim3{X: 1024, Y: 1, Z: 1}}}
	g.Modules = []ir.Module{{Name: "m", File: "m.ptx"}}
	g.Ops[2] = g.Ops[1]
	p, refused, planned := *profiles.All()[0], 0, 0
	numbers(reflect.ValueOf(&p).Elem(), "", func(name string, v reflect.Value) {
		if !v.CanSet() {
			return
		}
		was := reflect.ValueOf(v.Interface())
		for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, 1e-300, math.MaxFloat64, math.MaxInt64, math.MinInt64} {
			if v.CanFloat() {
				v.SetFloat(bad)
			} else if math.IsNaN(bad) || math.Abs(bad) < 1 && bad != 0 || math.Abs(bad) > 1<<62 {
				v.SetInt(math.MaxInt64)
			} else {
				v.SetInt(int64(bad))
			}
			begun := time.Now()
			_, err := Plan(g, Options{Custom: &p, Streams: true, Strategy: "nimble"})
			_, failed := lowerBound(&ir.Graph{Phase: ir.Analyzed}, Options{Custom: &p})
			require.Less(t, time.Since(begun), 5*time.Second, "%s = %v", name, bad)
			if failed == nil {
				require.NoError(t, err, "%s = %v", name, bad)
				planned++
				continue
			}
			refused++
			require.ErrorIs(t, err, model.ErrProfile, "%s = %v", name, bad)
			require.Equal(t, err, failed, "%s = %v", name, bad)
		}
		v.Set(was)
	})
	t.Log(refused, "refused,", planned, "planned")
	assert.Greater(t, refused, 400)
	_, err := Plan(g, Options{Custom: &model.Profile{}})
	assert.ErrorIs(t, err, model.ErrProfile)
}
