package overlap

// Shares say how much of a replay's work overlapped, each from 0 to 1, as the GrCUDA
// paper defines them:
//
//	CT   of the kernels' time, what transfers overlap
//	TC   of the transfers' time, what kernels overlap
//	CC   of the kernels' time, what other kernels hide
//	TOT  of all time, what other work hides
//
// Hidden is what n pieces of work save by running together: of two that coincide,
// half, and of n at most (n-1)/n. So CC is 1 less the time in which any kernel ran
// over the sum of theirs. Where there is no such work, its share is 0.
type Shares struct {
	CT  float64 `json:"ct"`
	TC  float64 `json:"tc"`
	CC  float64 `json:"cc"`
	TOT float64 `json:"tot"`
}

// Of computes the shares. Everything is a union or an intersection of spans, so none
// exceeds 1, however the spans lie.
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
