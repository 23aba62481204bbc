package compare

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// merge combines the records of all rounds by medians, so that a disturbed round has no effect.
func merge(rounds [][]bench.Record) ([]bench.Record, error) {
	first := rounds[0]
	all := make([]bench.Record, len(first))
	for i := range first {
		same := make([]bench.Record, len(rounds))
		for k, round := range rounds {
			if len(round) != len(first) || round[i].Way() != first[i].Way() {
				return nil, fmt.Errorf("round %d measured other versions than the first", k+1)
			}
			same[k] = round[i]
		}
		all[i] = mergeOne(same)
	}
	return all, nil
}

func mergeOne(same []bench.Record) bench.Record {
	m := same[0]
	for i := range same {
		r := &same[i]
		m.MinUS, m.MaxUS = min(m.MinUS, r.MinUS), max(m.MaxUS, r.MaxUS)
		m.MaxError = max(m.MaxError, r.MaxError)
		m.Checked = m.Checked && r.Checked
		if m.OK && !r.OK {
			m.OK, m.Error = false, r.Error
		}
	}
	m.ReplayUS = medianOf(same, func(r *bench.Record) float64 { return r.ReplayUS })
	m.BurstUS = medianOf(same, func(r *bench.Record) float64 { return r.BurstUS })
	m.EventUS = medianOf(same, func(r *bench.Record) float64 { return r.EventUS })
	return m
}

func medianOf(records []bench.Record, value func(*bench.Record) float64) float64 {
	var all []float64
	for i := range records {
		all = append(all, value(&records[i]))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
