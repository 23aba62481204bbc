package figure

import (
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// workloads groups comparisons by workload.
func workloads(all []compare.Comparison) [][]compare.Comparison {
	return grouped(all, func(c *compare.Comparison) any { return c.Workload })
}

// sizesOf groups the comparisons of one workload by size.
func sizesOf(all []compare.Comparison) [][]compare.Comparison {
	return grouped(all, func(c *compare.Comparison) any { return c.Size })
}

func grouped(all []compare.Comparison, key func(*compare.Comparison) any) (groups [][]compare.Comparison) {
	at := map[any]int{}
	for i := range all {
		k := key(&all[i])
		n, ok := at[k]
		if !ok {
			n = len(groups)
			at[k] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], all[i])
	}
	return groups
}

func each[T any](list []T, value func(*T) float64) (values []float64) {
	for i := range list {
		values = append(values, value(&list[i]))
	}
	return values
}

// known drops unknown values.
func known(values []float64) (rest []float64) {
	for _, v := range values {
		if v > 0 {
			rest = append(rest, v)
		}
	}
	return rest
}

func bestGo(c *compare.Comparison) string { return c.Best }

func bestCPP(c *compare.Comparison) string { return c.BestCPP }

// title returns the printed name of the workload.
func title(c *compare.Comparison) string {
	if w, err := bench.LookupWorkload(c.Workload); err == nil {
		return w.Title
	}
	return c.Workload
}
