package bench

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/names"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/uncertainty"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Explanation attributes the time of one replay to causes. The causes add up to the makespan, because each instant
// has exactly one: see sim.Device.Timeline.
type Explanation struct {
	Workload   string `json:"workload"`
	Size       int    `json:"size"`
	Memory     string `json:"memory"`
	Device     string `json:"device"`
	Simulated  bool   `json:"simulated"`
	Sample     int64  `json:"sample,omitempty"` // blocks run per launch; if not 0, no data were computed
	Strategy   string `json:"strategy"`
	Backend    string `json:"backend"`
	MakespanPS int64  `json:"makespan_ps"`
	// Uncertainty is that of the makespan, relative: see package uncertainty.
	Uncertainty float64 `json:"uncertainty"`
	Causes      []Share `json:"causes"`
	Limits      []Share `json:"limits"`
	Work        []Blame `json:"work"`

	Costs *optimizer.Measurement `json:"-"` // costs used for the plan
}

// Share is a part of the makespan.
type Share struct {
	Name string `json:"name"`
	PS   int64  `json:"ps"`
}

// Blame is the part of one piece of work in the makespan.
type Blame struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	TookPS   int64  `json:"took_ps"`     // from its earliest possible start to its end
	OnPathPS int64  `json:"on_path_ps"`  // part of that on the critical path
	GapPS    int64  `json:"gap_ps"`      // gap before it on the critical path
	Limit    string `json:"limit"`       // limit of most of its time
	Cause    string `json:"limit_cause"` // group of that limit
}

// Explain replays a workload on a simulated device and attributes the time of the last replay. A wrong result is an
// error, unless the device samples.
func Explain(ctx context.Context, dev *sim.Device, w *Workload, p Params, strategy string, backend graphexec.Backend) (x Explanation, err error) {
	in, err := w.New(dev, p)
	if err != nil {
		return x, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Measure(ctx, dev); err != nil {
		return x, err
	}
	plan, err := in.Plan(dev, strategy, backend)
	if err != nil {
		return x, err
	}
	seen, err := watchReplay(ctx, dev, in, plan.Schedule, backend)
	if err == nil {
		err = in.right(dev)
	}
	if err != nil {
		return x, err
	}
	x = Explanation{
		Workload: w.Name, Size: p.Size, Memory: in.Params.Memory.String(), Device: dev.Info().ID, Simulated: true, Sample: dev.Sample(),
		Strategy: strategy, Backend: backend.String(), MakespanPS: seen.total,
		Uncertainty: seen.uncertainty(dev.Profile()),
		Costs:       in.Measured,
	}
	x.account(seen.steps, seen.work)
	return x, nil
}

// settle is the number of replays before the recorded one.
const settle = 2

// watched is the time line of one replay.
type watched struct {
	total int64
	steps []sim.Step
	work  []sim.Work
	of    map[string]names.Place // operations by the labels of their work
}

// uncertainty returns the relative uncertainty of the time of the replay.
func (w *watched) uncertainty(p *model.Profile) float64 {
	var shares []uncertainty.Share
	for _, s := range w.steps {
		shares = append(shares, uncertainty.Share{Limit: s.Limit, PS: s.Took})
	}
	return uncertainty.Of(shares, p)
}

// watchReplay runs replays until the caches are in their steady state, then records one more.
func watchReplay(ctx context.Context, dev *sim.Device, in *Instance, s *ir.Schedule, backend graphexec.Backend) (seen watched, err error) {
	exec, err := graphexec.Instantiate(dev, s, in.Trace, backend)
	if err != nil {
		return seen, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	for range settle {
		if _, err := replayOnce(ctx, dev, in, exec); err != nil {
			return seen, err
		}
	}
	if err := in.Reset(); err != nil {
		return seen, err
	}
	dev.StartTimeline()
	if err := replay(ctx, exec); err != nil {
		return seen, err
	}
	seen.total, seen.steps, seen.work = dev.Timeline()
	seen.of = names.Of(exec)
	return seen, nil
}

// right checks the result of the last replay, unless the device samples.
func (in *Instance) right(dev *sim.Device) error {
	if dev.Sample() != 0 {
		return nil
	}
	_, err := in.Check()
	return err
}

// account sums the steps by cause, by limit and by work.
func (x *Explanation) account(steps []sim.Step, work []sim.Work) {
	x.Work = make([]Blame, len(work))
	at := map[int64]int{}
	for i, w := range work {
		at[w.ID] = i
		x.Work[i] = Blame{Name: w.Name, Kind: w.Kind, TookPS: w.Took, Limit: w.Limit, Cause: w.Cause}
	}
	for _, s := range steps {
		x.Causes = addShare(x.Causes, s.Cause, s.Took)
		x.Limits = addShare(x.Limits, s.Limit, s.Took)
		if i, ok := at[s.Work]; ok && s.Before {
			x.Work[i].GapPS += s.Took
		} else if ok {
			x.Work[i].OnPathPS += s.Took
		}
	}
}

func addShare(list []Share, name string, ps int64) []Share {
	for i := range list {
		if list[i].Name == name {
			list[i].PS += ps
			return list
		}
	}
	return append(list, Share{name, ps})
}

// WriteExplanation prints an explanation as text.
func WriteExplanation(w io.Writer, x *Explanation) error {
	sampled := ""
	if x.Sample > 0 {
		sampled = fmt.Sprintf("; sampled, %d blocks per launch, no data computed", x.Sample)
	}
	fmt.Fprintf(w, "%s, %s/%s on %s: %s us of virtual time %s%s\n\n", named(x.Workload, x.Size), x.Strategy, x.Backend, x.Device, us(x.MakespanPS), uncertainty.Format(x.Uncertainty), sampled)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "cause\tus\tshare\t")
	for _, c := range x.Causes {
		fmt.Fprintf(t, "%s\t%s\t%.1f%%\t\n", c.Name, us(c.PS), 100*float64(c.PS)/float64(max(1, x.MakespanPS)))
	}
	fmt.Fprintf(t, "total\t%s\t\t\n", us(x.MakespanPS))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tus\ton the path\tgap before\tbound by")
	for _, b := range x.Work {
		name := b.Name
		if name == "" {
			name = b.Kind
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", name, us(b.TookPS), us(b.OnPathPS), us(b.GapPS), b.Limit)
	}
	return t.Flush()
}

// us converts picoseconds to microseconds with three decimals.
func us(ps int64) string { return fmt.Sprintf("%.3f", float64(ps)/1e6) }
