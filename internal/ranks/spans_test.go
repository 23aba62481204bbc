package ranks

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/distribute"
)

// Operations on random spans agree with operations on sets of bytes.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const size = 20
	list := func() (spans, [size]bool) {
		var l []distribute.Span
		var set [size]bool
		for range r.IntN(6) {
			lo := r.IntN(size)
			hi := lo + r.IntN(size+1-lo)
			l = append(l, distribute.Span{Lo: int64(lo), Hi: int64(hi)})
			for i := lo; i < hi; i++ {
				set[i] = true
			}
		}
		return union(l), set
	}
	check := func(got spans, in func(i int) bool) {
		var want spans
		for i := range size {
			if !in(i) {
				continue
			}
			if n := len(want) - 1; n >= 0 && want[n].Hi == int64(i) {
				want[n].Hi++
			} else {
				want = append(want, distribute.Span{Lo: int64(i), Hi: int64(i + 1)})
			}
		}
		assert.Equal(t, want, got)
	}
	for range 2000 {
		a, inA := list()
		b, inB := list()
		check(a, func(i int) bool { return inA[i] })
		check(a.minus(b), func(i int) bool { return inA[i] && !inB[i] })
		check(a.common(b), func(i int) bool { return inA[i] && inB[i] })
	}
}
