package shares

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// WriteTable prints the records as an aligned table. Times of a simulated device are virtual; the cost of a decision is
// host time.
func WriteTable(w io.Writer, records []Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "high\tlow\tpolicy\thigh us\tover alone\tp99\tspeed-up\tlow share\tover default\tlatest us\tbound us\tdecision ns\thost\tok\t")
	for i := range records {
		r := &records[i]
		bound := "-"
		if r.BoundUS > 0 {
			bound = fmt.Sprintf("%.0f", r.BoundUS)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.0f\t%.3f\t%.3f\t%.2f\t%.3f\t%.2f\t%.0f\t%s\t%.0f\t%.2f%%\t%s\t\n", r.High, r.Low, r.Policy, r.MeanUS,
			r.HighOverExclusive, r.HighP99OverExclusive, r.SpeedupOverDefault, r.LowShare, r.LowOverDefault, r.LatenessMaxUS, bound, r.DecisionNS, 100*r.HostShare, verdict(r))
	}
	return t.Flush()
}

func verdict(r *Record) string {
	switch {
	case r.OK == nil:
		return "-"
	case *r.OK:
		return "ok"
	}
	return "WRONG"
}

// Summary is what the pairs of a matrix have in common, for one policy.
type Summary struct {
	Pairs       int
	Mean, P99   float64 // the greatest over exclusive
	LateOfBound float64 // the greatest delay over its bound; 0 without bounds
	OfGreedy    float64 // the least throughput of the other program over that under greedy; infinite if greedy was not run
	Share       [2]float64
	Defaults    []Against
	AnyFaster   int // pairs that are quicker than under a default by more than publishedSpeedup
}

// Against compares a policy with a default.
type Against struct {
	Name    string
	Speedup [2]float64 // least and greatest
	Faster  int        // pairs whose speed-up exceeds publishedSpeedup
	Low     float64    // the least throughput of the other program over that under the default
}

// publishedSpeedup is the speed-up that more than half of the pairs of FIKIT exceed.
const publishedSpeedup = 3.4

// Summarize returns the summary of a policy.
func Summarize(records []Record, policy string) (s Summary) {
	s.OfGreedy, s.Share = math.Inf(1), [2]float64{math.Inf(1), 0}
	of := map[string]map[string]*Record{} // by pair and policy
	for i := range records {
		r := &records[i]
		pair := r.High + "\n" + r.Low
		if of[pair] == nil {
			of[pair] = map[string]*Record{}
		}
		of[pair][r.Policy] = r
	}
	for _, name := range policiesOf(records) {
		if named(name).Default {
			s.Defaults = append(s.Defaults, Against{Name: name, Speedup: [2]float64{math.Inf(1), 0}, Low: math.Inf(1)})
		}
	}
	for _, pair := range of {
		if r := pair[policy]; r != nil {
			s.add(r, pair)
		}
	}
	return s
}

// policiesOf lists the policies of records, in the order of their first ones.
func policiesOf(records []Record) (names []string) {
	for i := range records {
		if name := records[i].Policy; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// add adds a pair, whose records are given by policy.
func (s *Summary) add(r *Record, pair map[string]*Record) {
	s.Pairs++
	s.Mean, s.P99 = max(s.Mean, r.HighOverExclusive), max(s.P99, r.HighP99OverExclusive)
	s.Share[0], s.Share[1] = min(s.Share[0], r.LowShare), max(s.Share[1], r.LowShare)
	if r.BoundUS > 0 {
		s.LateOfBound = max(s.LateOfBound, r.LatenessMaxUS/r.BoundUS)
	}
	if g := pair["greedy"]; g != nil {
		s.OfGreedy = min(s.OfGreedy, ratio(r.PerSecond, g.PerSecond))
	}
	any := false
	for i := range s.Defaults {
		a := &s.Defaults[i]
		d := pair[a.Name]
		if d == nil {
			continue
		}
		speedup := ratio(d.MeanUS, r.MeanUS)
		a.Speedup[0], a.Speedup[1] = min(a.Speedup[0], speedup), max(a.Speedup[1], speedup)
		a.Low = min(a.Low, ratio(r.PerSecond, d.PerSecond))
		if speedup > publishedSpeedup {
			a.Faster++
			any = true
		}
	}
	if any {
		s.AnyFaster++
	}
}

// WriteSummary prints a line for each policy, and one for each default that a policy with a bound is compared with.
func WriteSummary(w io.Writer, records []Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "policy\tpairs\tworst over alone\tp99\tlatest of bound\tlow share\tlow of greedy, least\t")
	for _, name := range policiesOf(records) {
		s, late := Summarize(records, name), "-"
		if s.LateOfBound > 0 {
			late = fmt.Sprintf("%.2f", s.LateOfBound)
		}
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%s\t%.3f to %.3f\t%s\t\n", name, s.Pairs, s.Mean, s.P99, late, s.Share[0], s.Share[1], orDash(s.OfGreedy))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	s := Summarize(records, "fill")
	if s.Pairs == 0 {
		return nil
	}
	fmt.Fprintln(w)
	fmt.Fprintf(t, "fill against\tspeed-up\tpairs above %.1f\tlow over it, least\t\n", publishedSpeedup)
	for _, a := range s.Defaults {
		if a.Speedup[1] > 0 {
			fmt.Fprintf(t, "%s\t%.2f to %.2f\t%d of %d\t%.2f\t\n", a.Name, a.Speedup[0], a.Speedup[1], a.Faster, s.Pairs, a.Low)
		}
	}
	fmt.Fprintf(t, "any of them\t\t%d of %d\t\t\n", s.AnyFaster, s.Pairs)
	return t.Flush()
}

func orDash(x float64) string {
	if math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
