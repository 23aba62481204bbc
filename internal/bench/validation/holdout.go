package validation

import "math"

// HeldOut is a cross-validation of the bias that the model has left. Each GPU, or each kernel, is held out in turn. A
// correction of the predicted times is fitted to all other rows, the factor that makes their geometric mean 1, and is
// applied to the rows held out. If the corrected errors are smaller than the uncorrected ones, the model has a bias
// that GPUs or kernels have in common.
//
// The constants of the model are not fitted again, so this does not show how well they carry over to other GPUs.
type HeldOut struct {
	By        string     `json:"by"`        // "gpu" or "kernel"
	PerClass  bool       `json:"per_class"` // one factor per class of kernels, not one for all
	Least     float64    `json:"least"`     // the smallest and the greatest factor
	Greatest  float64    `json:"greatest"`
	Corrected Statistics `json:"corrected"` // of all rows, each with the factor of the part in which it was held out
}

// holdOut returns the cross-validation with one factor and with one factor per class. It returns nothing if there are
// no two parts.
func holdOut(results []*Result, by string, of func(*Row) string) []HeldOut {
	if len(partition(results, of)) < 2 {
		return nil
	}
	all := func(*Row) string { return "" }
	perClass := func(r *Row) string { return r.Class }
	return []HeldOut{crossValidate(results, by, of, all), crossValidate(results, by, of, perClass)}
}

// crossValidate fits a factor for each value of a property, kind. The geometric mean of the rows that are not held out
// is that of all rows without the sum of logarithms of those held out. A kind that only the part held out has gets the
// factor 1.
func crossValidate(results []*Result, by string, part, kind func(*Row) string) HeldOut {
	type sum struct {
		logs float64
		rows int
	}
	whole, parts := map[string]sum{}, map[[2]string]sum{}
	for _, r := range results {
		k, at, log := kind(r.Row), [2]string{part(r.Row), kind(r.Row)}, math.Log(r.Ratio())
		whole[k] = sum{whole[k].logs + log, whole[k].rows + 1}
		parts[at] = sum{parts[at].logs + log, parts[at].rows + 1}
	}
	factor := func(r *Result) float64 {
		k := kind(r.Row)
		w, p := whole[k], parts[[2]string{part(r.Row), k}]
		if w.rows == p.rows {
			return 1
		}
		return math.Exp(-(w.logs - p.logs) / float64(w.rows-p.rows))
	}
	h := HeldOut{By: by, PerClass: kind(&Row{Class: "x"}) == "x", Least: math.Inf(1), Corrected: describe(results, factor)}
	for _, r := range results {
		h.Least, h.Greatest = min(h.Least, factor(r)), max(h.Greatest, factor(r))
	}
	return h
}
