package overlap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// drawn parses drawings of time lines, with one column per unit of time.
func drawn(lines ...string) (spans []Span) {
	for _, line := range lines {
		for at := 0; at < len(line); at++ {
			if line[at] == ' ' {
				continue
			}
			begin := at
			for at < len(line) && line[at] != ' ' {
				at++
			}
			spans = append(spans, Span{int64(begin), int64(at)})
		}
	}
	return spans
}

func TestSharesOfDrawnTimeLines(t *testing.T) {
	for _, c := range []struct {
		name               string
		kernels, transfers []Span
		want               Shares
	}{
		{"nothing", nil, nil, Shares{}},
		{"one kernel", drawn("----"), nil, Shares{}},
		{"one after the other", drawn("    ----"), drawn("----"), Shares{}},
		{
			"a kernel under a transfer",
			drawn("  --    "),
			drawn("--------"),
			Shares{CT: 1, TC: 2. / 8, TOT: 2. / 10},
		},
		{
			"two kernels that coincide",
			drawn("----", "----"), nil,
			Shares{CC: 1. / 2, TOT: 1. / 2},
		},
		{
			"three kernels that coincide",
			drawn("----", "----", "----"), nil,
			Shares{CC: 2. / 3, TOT: 2. / 3},
		},
		{
			"a short kernel beside a long one",
			drawn("--------", " --     "), nil,
			Shares{CC: 2. / 10, TOT: 2. / 10},
		},
		{
			"transfers that touch are two, and no overlap",
			drawn(" --     "),
			[]Span{{0, 4}, {4, 8}},
			Shares{CT: 1, TC: 2. / 8, TOT: 2. / 10},
		},
		{
			"transfers that overlap cover a kernel once",
			drawn("  --"),
			drawn("----", "----"),
			Shares{CT: 1, TC: 4. / 8, TOT: 6. / 10},
		},
		{
			"all kinds",
			drawn("  ----  ", "    ----"),
			drawn("---     ", "      --"),
			Shares{CT: 3. / 8, TC: 3. / 5, CC: 2. / 8, TOT: 5. / 13},
		},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Of(c.kernels, c.transfers)) })
	}
}

// TestSharesAgainstCounting compares with the definition, evaluated at each instant.
func TestSharesAgainstCounting(t *testing.T) {
	const horizon = 24
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() (spans []Span) {
		for range r.IntN(6) {
			begin := r.Int64N(horizon)
			spans = append(spans, Span{begin, begin + r.Int64N(horizon-begin)}) // some are empty
		}
		return spans
	}
	for range 2000 {
		kernels, transfers := draw(), draw()
		var k, t2, both2, ct, tc, hidden, hiddenAll int64
		for at := range int64(horizon) {
			running := func(spans []Span) (n int64) {
				for _, s := range spans {
					if s.Begin <= at && at < s.End {
						n++
					}
				}
				return n
			}
			nk, nt := running(kernels), running(transfers)
			k, t2, both2 = k+nk, t2+nt, both2+nk+nt
			if nt > 0 {
				ct += nk
			}
			if nk > 0 {
				tc += nt
			}
			hidden += max(0, nk-1)
			hiddenAll += max(0, nk+nt-1)
		}
		ratio := func(a, b int64) float64 {
			if b == 0 {
				return 0
			}
			return float64(a) / float64(b)
		}
		before := slices.Clone(kernels)
		got := Of(kernels, transfers)
		assert.Equal(t, Shares{ratio(ct, k), ratio(tc, t2), ratio(hidden, k), ratio(hiddenAll, both2)}, got, "%v %v", kernels, transfers)
		assert.Equal(t, before, kernels, "arguments are left alone")
		for _, share := range []float64{got.CT, got.TC, got.CC, got.TOT} {
			assert.True(t, 0 <= share && share <= 1)
		}
	}
}
