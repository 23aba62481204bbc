package shares

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
	"github.com/reprise-gpu/reprise/internal/timings"
)

// Config selects what a run measures.
type Config struct {
	// Open opens a device. If sampled is set, it runs only some blocks of each launch, if it is a simulated one.
	Open     func(sampled bool) (device.Device, error)
	High     []Program
	Low      []Program
	Policies []Policy
	// Usual is the default policy, over which speed-ups are stated.
	Usual       Policy
	Requests    int              // of the important program
	Rate        float64          // of them per second, at random times (a Poisson process); 0 means that one follows another
	Load        float64          // if positive: the rate as a fraction of the requests that the program serves alone, one after another
	Jitter      float64          // standard deviation of the logarithm of the gaps of the important program
	Timings     *timings.Timings // of earlier runs: the gaps with which predictions begin; nil if there are none
	simulateAll bool             // runs the other program while the important one is idle even if that only repeats
	// Progress is called after each row.
	Progress func(what string, done, total int)
}

// warmup is the number of requests of the important program alone, before the measured ones. The core measures its times
// alone in them.
const warmup = 5

// aloneRequests is the number of requests of the other program that are timed alone.
const aloneRequests = 20

// Rows returns the number of records of a complete run.
func (c *Config) Rows() int { return len(c.High) * len(c.Low) * len(c.Policies) }

// Run measures every policy with every pair on one device. An error means that the run could not continue; the records so
// far are returned with it.
func Run(ctx context.Context, c Config) (records []Record, err error) {
	sampled, err := c.samples()
	if err == nil {
		err = c.prepare(ctx)
	}
	if err != nil {
		return nil, err
	}
	r, err := newRunner(&c, sampled, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, r.close()) }()
	for h := range c.High {
		for l := range c.Low {
			of := &matched{runner: r, high: &c.High[h], low: &c.Low[l]}
			for _, p := range c.Policies {
				record, err := of.record(ctx, p)
				if err != nil {
					return records, fmt.Errorf("%s beside %s, %s: %w", of.high.Name, of.low.Name, p.Name, err)
				}
				records = append(records, *record)
				if c.Progress != nil {
					c.Progress(fmt.Sprintf("%s beside %s, %s", of.high.Name, of.low.Name, p.Name), len(records), c.Rows())
				}
			}
		}
	}
	return records, nil
}

// samples reports whether the device may run only some blocks of each launch. Policies with a flag need conditional nodes, whose
// conditions depend on results, and programs that are planned.
func (c *Config) samples() (bool, error) {
	policies := append(slices.Clone(c.Policies), c.Usual)
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.New().Form().Stops })
	if i < 0 {
		return true, nil
	}
	for _, p := range slices.Concat(c.High, c.Low) {
		if p.trace != nil {
			return false, fmt.Errorf("policy %s: %s is a trace, whose kernels the device cannot run by itself: name a workload, a saved graph or a solver", policies[i].Name, p.Name)
		}
	}
	return false, nil
}

// prepare solves the systems of programs that are solvers.
func (c *Config) prepare(ctx context.Context) error {
	for _, list := range [][]Program{c.High, c.Low} {
		for i := range list {
			if err := list[i].solved.prepare(ctx, c.Open); err != nil {
				return fmt.Errorf("%s: %w", list[i].Name, err)
			}
		}
	}
	return nil
}

// runner holds the device, and what the pairs share.
type runner struct {
	*Config
	dev       device.Device
	spinner   *spinner
	builder   *builder
	sampled   bool // the device runs only some blocks of each launch
	short     bool // traces run their kernels for the shortest time
	instances map[*Program]*instance
	alone     map[aloneKey]*figures
	whole     *runner // on a device that runs all blocks, for results; nil before the first
}

type aloneKey struct {
	program *Program
	high    bool
}

func newRunner(c *Config, sampled, short bool) (_ *runner, err error) {
	r := &runner{Config: c, sampled: sampled, short: short, instances: map[*Program]*instance{}, alone: map[aloneKey]*figures{}}
	if r.dev, err = c.Open(sampled); err != nil {
		return nil, err
	}
	if r.spinner, err = newSpinner(r.dev); err == nil {
		r.builder, err = newBuilder(r.dev)
	}
	if err == nil {
		err = r.measureLaunches()
	}
	if err != nil {
		return nil, device.Join(err, r.dev.Close())
	}
	return r, nil
}

// measureLaunches measures the cost of launches with a small kernel.
func (r *runner) measureLaunches() error {
	o, err := r.spinner.op(&Kernel{Blocks: 1, Threads: 32, Time: 10 * time.Microsecond})
	if err != nil {
		return err
	}
	return r.builder.launches(o.work)
}

func (r *runner) close() error {
	var errs []error
	if r.whole != nil {
		errs = append(errs, r.whole.close())
	}
	for _, in := range r.instances {
		errs = append(errs, in.close())
	}
	return device.Join(append(errs, r.builder.close(), r.spinner.close(), r.dev.Close())...)
}

// instance returns a program on the device. It is opened once.
func (r *runner) instance(p *Program) (*instance, error) {
	if in := r.instances[p]; in != nil {
		return in, nil
	}
	in, err := r.openProgram(p)
	if err == nil {
		r.instances[p] = in
	}
	return in, err
}

func (r *runner) openProgram(p *Program) (*instance, error) {
	switch {
	case p.trace != nil:
		return openTrace(r.dev, r.spinner, p.trace, r.short)
	case p.solved != nil:
		return p.solved.open(r.dev, p.Name, p.gap, r.sampled)
	}
	return openSaved(r.dev, p.saved, p.gap)
}

// The classes of the programs.
const (
	highClass = 9
	lowClass  = 0
)

// open adds programs to a host with a policy. Either may be nil.
func (r *runner) open(p Policy, high, low *Program) (_ *pair, err error) {
	policy := p.New()
	s := &pair{host: local.NewHost(r.dev, policy), policy: policy}
	for i, program := range []*Program{high, low} {
		if program == nil {
			continue
		}
		in, err := r.instance(program)
		if err == nil && in.reset != nil {
			err = in.reset()
		}
		if err == nil {
			var c *client
			c, err = s.add(r.builder, in, []int{highClass, lowClass}[i], i == 1 || p.cutsHigh, policy.Form(), in.known(r.Timings))
			if i == 0 && err == nil {
				c.jitter = r.Jitter
			}
		}
		if err != nil {
			return nil, device.Join(err, s.close())
		}
	}
	return s, nil
}

// exclusive is the policy under which programs run alone.
var exclusive = Policy{Name: exclusiveOf, New: func() sharing.Policy { return sharing.Exclusive{} }}

// highAlone returns the times of an important program alone.
func (r *runner) highAlone(ctx context.Context, p *Program) (f *figures, err error) {
	return r.timesAlone(aloneKey{p, true}, func() (*figures, error) {
		s, err := r.open(exclusive, p, nil)
		if err != nil {
			return nil, err
		}
		c := s.clients[0]
		c.start(warmup, 0)
		rate := r.Rate
		if err = s.run(ctx, c); err == nil {
			if r.Load > 0 {
				rate = r.Load * 1e9 / (&figures{latencies: c.latencies}).mean()
			}
			c.start(r.Requests, rate)
			err = s.run(ctx, c)
		}
		return &figures{latencies: sorted(c.latencies), rate: rate}, device.Join(err, s.close())
	})
}

// lowAlone returns the throughput of the other program alone.
func (r *runner) lowAlone(ctx context.Context, p *Program) (f *figures, err error) {
	return r.timesAlone(aloneKey{p, false}, func() (*figures, error) {
		s, err := r.open(exclusive, nil, p)
		if err != nil {
			return nil, err
		}
		c := s.clients[0]
		c.start(1, 0)
		if err = s.run(ctx, c); err != nil {
			return nil, device.Join(err, s.close())
		}
		from := s.host.Now()
		c.start(aloneRequests, 0)
		err = s.run(ctx, c)
		return &figures{perSecond: aloneRequests / (s.host.Now() - from).Seconds()}, device.Join(err, s.close())
	})
}

func (r *runner) timesAlone(key aloneKey, measure func() (*figures, error)) (*figures, error) {
	if f := r.alone[key]; f != nil {
		return f, nil
	}
	f, err := measure()
	if err == nil {
		r.alone[key] = f
	}
	return f, err
}

// matched is a pair of programs.
type matched struct {
	*runner
	high, low *Program
	usual     *outcome
}

// outcome is a run under a policy.
type outcome struct {
	figures
	record Record // what the core has measured
}

// record measures a policy.
func (m *matched) record(ctx context.Context, p Policy) (*Record, error) {
	high, err := m.highAlone(ctx, m.high)
	if err != nil {
		return nil, err
	}
	low, err := m.lowAlone(ctx, m.low)
	if err != nil {
		return nil, err
	}
	if m.usual == nil {
		if m.usual, err = m.run(ctx, m.Usual); err != nil {
			return nil, err
		}
	}
	o := m.usual
	if p.Name != m.Usual.Name {
		if o, err = m.run(ctx, p); err != nil {
			return nil, err
		}
	}
	r := o.record
	r.compare(&o.figures, high, low, &m.usual.figures)
	return &r, m.verify(ctx, p, &r)
}

// run runs the pair under a policy.
func (m *matched) run(ctx context.Context, p Policy) (_ *outcome, err error) {
	s, err := m.open(p, m.high, m.low)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, s.close()) }()
	high, low := s.clients[0], s.clients[1]
	low.due = sharing.Never
	high.start(warmup, 0)
	if err := s.run(ctx, high); err != nil {
		return nil, err
	}
	from := s.host.Now()
	cost, _ := s.host.Decisions()
	high.start(m.Requests, m.alone[aloneKey{m.high, true}].rate)
	low.start(0, 0)
	if !m.simulateAll {
		low.other = high
	}
	if err := s.run(ctx, high); err != nil {
		return nil, err
	}
	took := s.host.Now() - from
	o := &outcome{record: Record{High: m.high.Name, Low: m.low.Name, Policy: p.Name, Requests: m.Requests, Device: m.dev.Info().ID}}
	o.record.set(s, took, cost)
	o.latencies = sorted(high.latencies)
	done := float64(low.skipped) + float64(low.program.Stats().Units)/float64(unitsOf(low.works))
	o.perSecond = done / took.Seconds()
	return o, nil
}

// set takes the figures of the core.
func (r *Record) set(s *pair, took, cost time.Duration) {
	high := s.clients[0]
	r.LatenessMaxUS = micros(high.program.Stats().MaxLate)
	r.BoundUS = micros(boundOf(s))
	sum, median := s.host.Decisions()
	r.DecisionNS = float64(median.Nanoseconds())
	r.HostShare = (sum - cost).Seconds() / took.Seconds()
	r.HighSpans, r.LowSpans = high.spans, s.clients[1].grants
}

// boundOf returns the delay that the policy promises at most, 0 if it promises nothing.
func boundOf(s *pair) time.Duration {
	f, ok := s.policy.(*sharing.Fill)
	if !ok || f.Greedy {
		return 0
	}
	bound, oversize := s.host.Bound(f)
	return bound + oversize
}
