package shares

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
)

// pair drives the programs that share a device under one policy.
type pair struct {
	host    *local.Host
	policy  sharing.Policy
	clients []*client
}

// client makes the requests of a program: the stages one after another, with the gaps of the host between them.
type client struct {
	host    *local.Host
	program *local.Program
	works   []local.Work
	gaps    []time.Duration
	jitter  float64 // standard deviation of the logarithm of a gap
	random  *rand.Rand
	rate    float64 // of requests per second at random times; 0 means that one follows another
	limit   int     // of requests; 0 means no limit
	grow    func(request int) float64

	requests  int           // that have begun
	due       time.Duration // of the next stage; sharing.Never while one runs
	stage     int
	arrived   time.Duration // the present request
	next      time.Duration // arrival of the next request, at a rate
	latencies []time.Duration
	spans     []Span        // stages of the first requests, for the timeline
	grants    []Span        // grants in that time
	from      time.Duration // submission of the present stage
	other     *client       // the important program beside it; nil if idle time is not skipped
	fresh     bool          // the present request began with nothing in flight
	awaited   time.Duration // the arrival of the important program that was next then
	steady    time.Duration // decisions were expected to stay the same until then
	skipped   int           // requests that were left out
	done      func(time.Duration, error)
	err       error
}

// maxSpans is the number of stages, and of grants, that are kept for the timeline.
const maxSpans = 4000

// add adds a program. cut allows its kernels to be cut. known is as in local.Host.Add.
func (p *pair) add(b *builder, in *instance, class int, cut bool, f sharing.Form, known []sharing.Stage) (*client, error) {
	works, err := b.build(in, f, cut)
	if err != nil {
		return nil, device.Join(err, closeAll(works))
	}
	c := &client{host: p.host, works: works, random: rand.New(rand.NewPCG(uint64(class), 1))}
	for _, s := range in.stages {
		c.gaps = append(c.gaps, s.gap)
	}
	if c.program, err = p.host.Add(in.name, class, works, known); err != nil {
		return nil, device.Join(err, closeAll(works))
	}
	c.done = c.ended
	p.host.Watch = p.watch
	p.clients = append(p.clients, c)
	return c, nil
}

// watch notes a grant. It begins when the one before it has ended.
func (p *pair) watch(of *local.Program, from, to time.Duration) {
	for _, c := range p.clients {
		if c.program != of || len(c.grants) >= maxSpans {
			continue
		}
		if n := len(c.grants); n > 0 {
			from = max(from, c.grants[n-1].To)
		}
		c.grants = append(c.grants, Span{from, to})
	}
}

// errClosed ends the stages that run when a measurement ends.
var errClosed = errors.New("the measurement has ended")

func (p *pair) close() error {
	err := p.host.Close(errClosed)
	for _, c := range p.clients {
		err = device.Join(err, closeAll(c.works))
	}
	return err
}

// start makes the client submit up to limit requests from now on. It forgets the latencies.
func (c *client) start(limit int, rate float64) {
	now := c.host.Now()
	c.limit, c.rate, c.requests, c.stage, c.due, c.latencies, c.spans, c.grants = limit, rate, 0, 0, now, nil, nil, nil
	if rate > 0 {
		c.due = now + c.interval()
	}
	c.next = c.due
}

// interval returns the time to the next request of a Poisson process.
func (c *client) interval() time.Duration {
	return time.Duration(c.random.ExpFloat64() / c.rate * float64(time.Second))
}

// gap returns the time that the host works after a stage.
func (c *client) gap(stage int) time.Duration {
	g := float64(c.gaps[stage])
	if c.jitter > 0 {
		g *= math.Exp(c.jitter * c.random.NormFloat64())
	}
	if c.grow != nil {
		g *= c.grow(c.requests)
	}
	return time.Duration(g)
}

// submit submits the stage that is due.
func (c *client) submit() {
	now := c.host.Now()
	if c.stage == 0 {
		if c.limit > 0 && c.requests >= c.limit {
			c.due = sharing.Never
			return
		}
		c.requests++
		c.arrived = c.due
		c.begin()
		if c.rate > 0 {
			c.arrived = c.next
		}
	}
	c.due = sharing.Never
	c.from = now
	c.host.Arrive(c.program, c.stage, c.done)
}

// ended is called at the end of a stage.
func (c *client) ended(_ time.Duration, err error) {
	if err != nil {
		c.err = err
		return
	}
	now := c.host.Now()
	if len(c.spans) < maxSpans {
		c.spans = append(c.spans, Span{c.from, now})
	}
	c.due = now + c.gap(c.stage)
	if c.stage++; c.stage < len(c.works) {
		return
	}
	c.stage = 0
	if c.limit > 0 {
		c.latencies = append(c.latencies, now-c.arrived)
	}
	if c.skip(); c.host.Now() > now {
		c.due = c.host.Now()
	}
	if c.rate > 0 {
		c.next += c.interval()
		c.due = max(c.next, now)
	}
}

// begin notes whether the request that begins repeats as long as the important program is idle.
func (c *client) begin() {
	if c.other == nil {
		return
	}
	c.fresh, c.awaited, c.steady = !c.host.Busy(), c.other.due, c.host.Steady()
}

// skip leaves out requests that would be like the one that has ended. Nothing is in flight between two of them. If the
// important program was idle from the beginning of one to its end, and decisions stay the same, the next one begins in
// the same state of the device and of the policy, takes the same time and ends in that state again, until the important
// program arrives or decisions change. Only the clock differs, so the time of whole requests is added to it.
func (c *client) skip() {
	if c.other == nil || !c.fresh || c.gaps[len(c.gaps)-1] > 0 {
		return
	}
	now, due := c.host.Now(), c.other.due
	period := now - c.arrived
	if due == sharing.Never || due != c.awaited || now > c.steady || period <= 0 {
		return
	}
	if n := (min(due, c.host.Steady()) - now) / period; n > 0 {
		c.host.Skip(n * period)
		c.skipped += int(n)
	}
}

// idle reports whether the client has made its requests, and they have ended.
func (c *client) idle() bool {
	return c.stage == 0 && c.limit > 0 && len(c.latencies) >= c.limit
}

// run drives all clients until one has made its requests.
func (p *pair) run(ctx context.Context, until *client) error {
	for !until.idle() {
		for _, c := range p.clients {
			if c.err != nil {
				return fmt.Errorf("%s: %w", c.program.Name, c.err)
			}
			if c.due <= p.host.Now() {
				c.submit()
			}
		}
		wake, err := p.host.Launch()
		if err != nil {
			return err
		}
		for _, c := range p.clients {
			wake = min(wake, c.due)
		}
		if err := p.await(ctx, wake); err != nil {
			return err
		}
	}
	return nil
}

// await lets time pass until a grant has ended, at most to a time. In real time it polls.
func (p *pair) await(ctx context.Context, until time.Duration) error {
	if p.host.Virtual() {
		return p.host.Await(ctx, until)
	}
	p.host.Harvest()
	return ctx.Err()
}
