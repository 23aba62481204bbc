package compare

import "math"

// Mean is a row over all workloads of a memory mode. It holds geometric means in which all workloads have the same
// weight, whatever their numbers of sizes and block sizes.
type Mean struct {
	Memory            string  `json:"memory"`
	Name              string  `json:"name"`
	Workloads         int     `json:"workloads"`
	RatioToGraph      float64 `json:"ratio_to_graph"`
	RatioToBest       float64 `json:"ratio_to_best"`
	SpeedupOverSerial float64 `json:"speedup_over_serial"`
	SpeedupOverSync   float64 `json:"speedup_over_sync"`
	OfBound           float64 `json:"of_bound"`
}

// BestGo names the mean over the fastest row in Go of each comparison.
const BestGo = "best in Go"

// Means averages the rows of all comparisons, by memory mode and name in order of appearance, followed by the best
// rows.
func Means(all []Comparison) (means []Mean) {
	for _, memory := range distinct(all, func(c *Comparison) []string { return []string{c.Memory} }) {
		var of []Comparison
		for _, c := range all {
			if c.Memory == memory {
				of = append(of, c)
			}
		}
		names := distinct(of, func(c *Comparison) (names []string) {
			for i := range c.Rows {
				names = append(names, c.Rows[i].Name)
			}
			return names
		})
		for _, name := range names {
			means = append(means, meanOf(of, memory, name, func(c *Comparison) *Row { return c.Row(name) }))
		}
		means = append(means, meanOf(of, memory, BestGo, func(c *Comparison) *Row { return c.Row(c.Best) }))
	}
	return means
}

func meanOf(all []Comparison, memory, name string, pick func(*Comparison) *Row) Mean {
	over := func(value func(*Row) float64) float64 {
		return meanOver(all, func(c *Comparison) float64 { return value(pick(c)) })
	}
	return Mean{
		Memory: memory, Name: name, Workloads: len(workloadsOf(all)),
		RatioToGraph:      over(func(r *Row) float64 { return r.RatioToGraph }),
		RatioToBest:       over(func(r *Row) float64 { return r.RatioToBest }),
		SpeedupOverSerial: over(func(r *Row) float64 { return r.SpeedupOverSerial }),
		SpeedupOverSync:   over(func(r *Row) float64 { return r.SpeedupOverSync }),
		OfBound:           over(func(r *Row) float64 { return r.OfBound }),
	}
}

// meanOver returns the geometric mean of a value in which all workloads have the same weight.
func meanOver(all []Comparison, value func(*Comparison) float64) float64 {
	var each []float64
	for _, workload := range workloadsOf(all) {
		var own []float64
		for i := range all {
			if all[i].Workload == workload {
				own = append(own, value(&all[i]))
			}
		}
		each = append(each, GeometricMean(own))
	}
	return GeometricMean(each)
}

func workloadsOf(all []Comparison) []string {
	return distinct(all, func(c *Comparison) []string { return []string{c.Workload} })
}

// GeometricMean returns the geometric mean of the known values, which are not 0; it is 0 if there are none.
func GeometricMean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if v > 0 {
			sum += math.Log(v)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// distinct returns the values of all comparisons without duplicates, in order of appearance.
func distinct(all []Comparison, of func(*Comparison) []string) (list []string) {
	seen := map[string]bool{}
	for i := range all {
		for _, v := range of(&all[i]) {
			if !seen[v] {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	return list
}
