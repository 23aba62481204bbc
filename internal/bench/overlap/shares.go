package overlap

// Shares holds the fractions of a replay's work that overlapped, each from 0 to 1, as the GrCUDA paper defines them:
//
//	CT   of the kernels' time, the part that overlaps with transfers
//	TC   of the transfers' time, the part that overlaps with kernels
//	CC   of the kernels' time, the part hidden by other kernels
//	TOT  of all time, the part hidden by other work
//
// The hidden time is the difference between the sum of the durations and the time in which any of the work ran. Of
// two coinciding pieces of work half is hidden, of n pieces at most (n-1)/n. A share without such work is 0.
type Shares struct {
	CT  float64 `json:"ct"`
	TC  float64 `json:"tc"`
	CC  float64 `json:"cc"`
	TOT float64 `json:"tot"`
}

// Of computes the shares. They are computed from unions and intersections of spans, so none exceeds 1.
func Of(kernels, transfers []Span) Shares {
	k, t := unite(kernels), unite(transfers)
	all := append(append([]Span(nil), kernels...), transfers...)
	return Shares{
		CT:  share(t.covered(kernels), total(kernels)),
		TC:  share(k.covered(transfers), total(transfers)),
		CC:  share(total(kernels)-k.length(), total(kernels)),
		TOT: share(total(all)-unite(all).length(), total(all)),
	}
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
