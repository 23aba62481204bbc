package tenants

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Config selects what a run measures.
type Config struct {
	Open    func() (device.Device, error)
	Program Program
	// Merged is the program of mode SpaceTime, if that has another kernel; without New it is Program.
	Merged  Program
	Tenants []int
	Modes   []Mode
	// Stack returns the costs of dispatch on a device; nil means Driver.
	Stack func(device.Device) Stack
	// Arrivals makes the requests of open arrivals; nil means that every tenant submits again when its request ends.
	Arrivals *Arrivals
	SLO      time.Duration // time from arrival to deadline; 0 means no deadlines
	Rounds   int           // measured rounds, and requests of each tenant
	Seed     uint64        // of the first tenant; each has another
	Sampled  bool          // the device runs only some blocks of each launch, so results are not compared
	// Row is called with each complete row.
	Row func(Record)
	// Progress is called after each row.
	Progress func(what string, done, total int)
}

// warmup is the number of rounds before the measured ones. The first of them is compared with the reference.
const warmup = 4

// Rows returns the number of records of a complete run.
func (c *Config) Rows() int { return len(c.cases()) }

// sharing is one row: a mode and a number of tenants.
type sharing struct {
	mode    Mode
	tenants int
}

// cases lists the rows, by number of tenants. Mode Exclusive has one.
func (c *Config) cases() (all []sharing) {
	for i, n := range c.Tenants {
		for _, m := range c.Modes {
			if m == Batch && !c.Program.Batched {
				continue
			}
			if m != Exclusive {
				all = append(all, sharing{m, n})
			} else if i == 0 {
				all = append(all, sharing{m, 1})
			}
		}
	}
	return all
}

// Run measures every combination on one device. An error means that the run could not continue; the records so far are
// returned with it.
func Run(ctx context.Context, c Config) (records []Record, err error) {
	dev, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	r := &runner{Config: &c, dev: dev}
	defer func() { err = device.Join(err, r.close()) }()
	cases := c.cases()
	for i, k := range cases {
		record, err := r.row(ctx, k)
		if err != nil {
			return records, fmt.Errorf("%s, %d tenants, %v: %w", c.Program.Name, k.tenants, k.mode, err)
		}
		records = append(records, *record)
		if c.Row != nil {
			c.Row(*record)
		}
		if c.Progress != nil {
			c.Progress(fmt.Sprintf("%d tenants, %v", k.tenants, k.mode), i+1, len(cases))
		}
	}
	return records, nil
}

// runner holds what the rows share: a row with n tenants uses the first n instances.
type runner struct {
	*Config
	dev       device.Device
	instances []*Instance // of Program
	merged    []*Instance // of Merged
}

func (r *runner) close() error {
	var errs []error
	for _, in := range slices.Concat(r.instances, r.merged) {
		errs = append(errs, in.Close())
	}
	return device.Join(errs...)
}

// first returns the first n instances of a mode's program.
func (r *runner) first(n int, mode Mode) ([]*Instance, error) {
	list, program := &r.instances, &r.Program
	if mode == SpaceTime && r.Merged.New != nil {
		list, program = &r.merged, &r.Merged
	}
	for len(*list) < n {
		in, err := program.New(r.dev, r.Seed+uint64(len(*list)), 1)
		if err != nil {
			return nil, err
		}
		*list = append(*list, in)
	}
	return (*list)[:n], nil
}

// row measures one mode with one number of tenants.
func (r *runner) row(ctx context.Context, k sharing) (_ *Record, err error) {
	m := &measurement{Config: r.Config, sharing: k, dev: r.dev, record: Record{Program: r.Program.Name, Device: r.dev.Info().ID, Tenants: k.tenants, Mode: k.mode.String()}}
	if k.mode != Batch {
		m.all, err = r.first(k.tenants, k.mode)
	} else if m.all, err = r.batch(k.tenants); err == nil {
		defer func() { err = device.Join(err, m.all[0].Close()) }()
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, m.close()) }()
	if err := m.open(); err != nil {
		return nil, err
	}
	if err := m.measure(ctx); err != nil {
		return nil, err
	}
	return &m.record, nil
}

// batch returns one instance for n tenants.
func (r *runner) batch(n int) ([]*Instance, error) {
	in, err := r.Program.New(r.dev, r.Seed, n)
	return []*Instance{in}, err
}

// measurement is the measurement of a row.
type measurement struct {
	*Config
	sharing
	dev     device.Device
	all     []*Instance
	service service
	record  Record
}

// open makes the service.
func (m *measurement) open() error {
	for _, in := range m.all {
		if err := in.Reset(); err != nil {
			return err
		}
	}
	stack := Driver(m.dev)
	if m.Stack != nil {
		stack = m.Stack(m.dev)
	}
	s, err := m.serviceOf(newHost(m.dev, stack))
	m.service = s
	return err
}

func (m *measurement) serviceOf(h *host) (service, error) {
	switch m.mode {
	case Exclusive:
		return newReplays(h, m.mode, m.all[0], 1)
	case Batch:
		return newReplays(h, m.mode, m.all[0], m.tenants)
	case SpaceTime:
		return newSpaceTime(h, m.all)
	}
	var works []*work
	for _, in := range m.all {
		w, err := newWork(m.dev, in)
		if err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	switch m.mode {
	case Time:
		return newContexts(h, works)
	case Space:
		return newSpace(h, works)
	}
	return newBranches(h, works)
}

func (m *measurement) close() error {
	if m.service == nil {
		return nil
	}
	return m.service.close()
}

// measure runs, in this order, a round whose results are checked, rounds to warm up, measured rounds, the requests whose
// latencies are measured, and another checked round.
func (m *measurement) measure(ctx context.Context) error {
	if err := m.checked(ctx); err != nil {
		return err
	}
	if err := m.warm(ctx); err != nil {
		return err
	}
	start := m.dev.Now()
	for range m.Rounds {
		if err := m.round(ctx); err != nil {
			return err
		}
	}
	m.record.USPerRound = micros(m.dev.Now()-start) / float64(m.Rounds)
	if m.record.USPerRound > 0 {
		m.record.GFlops = m.all[0].Flops * float64(len(m.all)) / m.record.USPerRound / 1000
	}
	requests, err := m.requests(ctx)
	if err != nil {
		return err
	}
	m.record.latencies(requests)
	return m.checked(ctx)
}

// warm runs rounds before the measured ones. Before open arrivals, it also runs smaller rounds, since a service may have
// to prepare for each size.
func (m *measurement) warm(ctx context.Context) error {
	for n := 1; m.Arrivals != nil && n < m.tenants; n *= 2 {
		if err := serve(ctx, m.dev, m.service, m.oneEach()[:n], 0, nil); err != nil {
			return err
		}
	}
	for range warmup - 1 {
		if err := m.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// round runs the program of every tenant once.
func (m *measurement) round(ctx context.Context) error {
	return serve(ctx, m.dev, m.service, m.oneEach(), 0, nil)
}

// requests runs the requests whose latencies are measured. Without arrivals, tenants submit again until each has had
// its number of requests.
func (m *measurement) requests(ctx context.Context) (all []*request, err error) {
	if m.Arrivals != nil {
		list := m.Arrivals.list(m.tenants, m.Rounds, m.Seed)
		err = serve(ctx, m.dev, m.service, list, m.SLO, func(r *request) { all = append(all, r) })
		return all, err
	}
	runs, left := make([]int, m.tenants), m.tenants
	var done func(r *request)
	done = func(r *request) {
		if runs[r.tenant] > 0 && left > 0 { // the first requests came all at once
			all = append(all, r)
		}
		if runs[r.tenant]++; runs[r.tenant] == m.Rounds+1 {
			left--
		}
		if left > 0 {
			m.service.enqueue(newRequest(r.tenant, r.ended, m.SLO, done))
		}
	}
	err = serve(ctx, m.dev, m.service, m.oneEach(), m.SLO, done)
	return all, err
}

// oneEach is a request of each tenant, at once.
func (m *measurement) oneEach() []arrival {
	list := make([]arrival, m.tenants)
	for i := range list {
		list[i].tenant = i
	}
	return list
}

// checked runs a round and compares its results.
func (m *measurement) checked(ctx context.Context) error {
	for _, in := range m.all {
		if err := in.Reset(); err != nil {
			return err
		}
	}
	if err := m.round(ctx); err != nil {
		return err
	}
	if m.Sampled {
		return nil
	}
	ok := m.record.OK == nil || *m.record.OK
	for i, in := range m.all {
		err := in.Check()
		if device.CodeOf(err) != 0 {
			return err
		}
		if err != nil && ok {
			ok, m.record.Error = false, fmt.Sprintf("tenant %d: %v", i, err)
		}
	}
	m.record.OK = &ok
	return nil
}
