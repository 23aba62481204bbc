package shares

import (
	"math"
	"slices"
	"time"
)

// Record is the result of one policy with one pair. It is the format of --json.
type Record struct {
	High     string `json:"high"`
	Low      string `json:"low"`
	Policy   string `json:"policy"`
	Requests int    `json:"requests"` // of the important program
	// The mean and the 99th percentile of the latencies of the important program, over those of it alone. A latency is the
	// time from the arrival of a request to the end of its last stage, as the host sees it.
	HighOverExclusive    float64 `json:"high_over_exclusive"`
	HighP99OverExclusive float64 `json:"high_p99_over_exclusive"`
	// SpeedupOverDefault is the mean latency under the default policy over that under this one.
	SpeedupOverDefault float64 `json:"speedup_over_default"`
	// LowShare is the throughput of the other program over its throughput alone, LowOverDefault that over its throughput
	// under the default policy.
	LowShare       float64 `json:"low_share"`
	LowOverDefault float64 `json:"low_over_default"`
	// LatenessMaxUS is the greatest delay of a stage of the important program, beyond its time alone. BoundUS is the
	// delay that the policy promises at most; 0 if it promises nothing.
	LatenessMaxUS float64 `json:"lateness_max_us"`
	BoundUS       float64 `json:"bound_us"`
	// DecisionNS is the host's time of a decision of the policy, in real time: the median of the last 512.
	DecisionNS float64 `json:"decision_ns"`
	// OK reports whether the results of both programs equal those of a run alone. It is nil if neither has results.
	OK *bool `json:"ok"`

	Error     string          `json:"-"` // why OK is false
	Device    string          `json:"-"`
	MeanUS    float64         `json:"-"`
	PerSecond float64         `json:"-"` // requests of the other program
	HostShare float64         `json:"-"` // real time of all decisions over the time of the run on the device
	Latencies []time.Duration `json:"-"` // ascending
	HighSpans []Span          `json:"-"` // first stages, from submission to end
	LowSpans  []Span          `json:"-"` // first grants
}

// Span is a stretch of the timeline.
type Span struct{ From, To time.Duration }

// figures are the times of a run.
type figures struct {
	latencies []time.Duration // ascending
	perSecond float64         // requests of the other program
	rate      float64         // of requests of the important program alone, as client.rate
}

func (f *figures) mean() float64 {
	sum := 0.0
	for _, d := range f.latencies {
		sum += float64(d)
	}
	return sum / float64(max(1, len(f.latencies)))
}

func (f *figures) p99() float64 {
	if len(f.latencies) == 0 {
		return 0
	}
	i := int(math.Ceil(0.99*float64(len(f.latencies)))) - 1
	return float64(f.latencies[max(i, 0)])
}

// compare sets the ratios of a record.
func (r *Record) compare(f, high, low, usual *figures) {
	r.HighOverExclusive, r.HighP99OverExclusive = ratio(f.mean(), high.mean()), ratio(f.p99(), high.p99())
	r.LowShare = ratio(f.perSecond, low.perSecond)
	if usual != nil {
		r.SpeedupOverDefault, r.LowOverDefault = ratio(usual.mean(), f.mean()), ratio(f.perSecond, usual.perSecond)
	}
	r.MeanUS, r.PerSecond, r.Latencies = f.mean()/1000, f.perSecond, f.latencies
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func sorted(list []time.Duration) []time.Duration {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
