package compare

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
)

// Config selects what is compared.
type Config struct {
	Open       func() (device.Device, error)
	Workloads  []*bench.Workload
	Sizes      []int // as for bench.Workload.SizesOf
	Threads    []int // per block; 0 means the workload's default
	Memory     []bench.Memory
	Strategies []string
	Backends   []graphexec.Backend
	Iterations int
	Rounds     int // rounds of measurements in Go, then in C++
	Sample     int64
	Seed       uint64
	Programs   Programs

	// Burst is the number of replays that are submitted back to back, for their throughput; 0 for none. Options holds
	// lists of optional passes for more rows in Go, measured only with a burst. Both apply to pinned memory. Managed
	// memory would move to the device in the first replay of a burst and stay there.
	Burst   int
	Options [][]string

	// Usual means that Options are not the choice of a user: those that a program does not allow are left out.
	Usual bool

	// Progress is called repeatedly with the numbers of finished and of all replays.
	Progress func(what string, done, total int)
}

// serial is the strategy that speedups are relative to.
const serial = "serial"

// setting holds the parameters that both sides get.
type setting struct {
	workload *bench.Workload
	size     int
	threads  int
	memory   bench.Memory
}

// burst returns the number of replays of a burst, and the additional rows in Go.
func (c *Config) burst(s setting) (int, [][]string) {
	if s.memory != bench.Pinned || c.Burst == 0 {
		return 0, nil
	}
	if c.Usual && s.workload.Loops {
		return c.Burst, slices.DeleteFunc(slices.Clone(c.Options), renames)
	}
	return c.Burst, c.Options
}

// renames reports whether one of the passes replaces buffers, which programs with loops or branches do not allow.
func renames(passes []string) bool {
	return slices.ContainsFunc(passes, func(pass string) bool { return strings.HasPrefix(pass, "rename") })
}

func (s setting) String() string {
	text := fmt.Sprintf("%s, %v", bench.At(s.workload.Name, s.size), s.memory)
	if s.workload.Saved {
		text = s.workload.Name
	}
	if s.threads != 0 {
		text += fmt.Sprintf(", %d threads", s.threads)
	}
	return text
}

// settings returns all settings; those of one table are adjacent. A saved program has one, since its file states the rest.
func (c *Config) settings() (all []setting) {
	for _, w := range c.Workloads {
		if w.Saved {
			all = append(all, setting{workload: w, memory: bench.Pinned})
			continue
		}
		for _, memory := range c.Memory {
			for _, size := range w.SizesOf(c.Sizes) {
				for _, threads := range c.Threads {
					all = append(all, setting{w, size, threads, memory})
				}
			}
		}
	}
	return all
}

// Settings returns the number of comparisons of a complete run.
func (c *Config) Settings() int { return len(c.settings()) }

// Run makes every comparison. A failed check gives a row that is not OK. An error means that the run could not
// continue; the comparisons so far are returned with it.
func Run(ctx context.Context, c Config) ([]Comparison, error) {
	var names []string
	for _, w := range c.Workloads {
		if !w.Saved {
			names = append(names, w.Name)
		}
	}
	if len(names) > 0 {
		if err := c.Programs.find(names...); err != nil {
			return nil, err
		}
	}
	all := c.settings()
	for _, s := range all {
		if err := s.workload.Fits(s.size); err != nil {
			return nil, err
		}
	}
	p := newProgress(&c, len(all))
	var done []Comparison
	for _, s := range all {
		one, err := c.compare(ctx, s, p)
		if err != nil {
			return done, fmt.Errorf("%v: %w", s, err)
		}
		done = append(done, *one)
	}
	return done, nil
}

// compare measures one setting, alternating between both sides, and profiles the replays in Go.
func (c *Config) compare(ctx context.Context, s setting, p *progress) (*Comparison, error) {
	var rounds [][]bench.Record
	var found *found
	for range c.Rounds {
		ours, err := c.replay(ctx, s, p, func(ctx context.Context, dev device.Device, in *bench.Instance) (err error) {
			if found == nil { // equal in all rounds
				found, err = c.profile(ctx, dev, in)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if s.workload.Saved { // there is no version in C++
			rounds = append(rounds, ours)
			continue
		}
		debug.FreeOSMemory() // large inputs may fit into memory only once, and the C++ program makes its own
		theirs, err := c.Programs.run(ctx, c, s, p)
		if err != nil {
			return nil, err
		}
		if err := comparable(&ours[0], theirs); err != nil {
			return nil, err
		}
		rounds = append(rounds, append(ours, theirs...))
	}
	records, err := merge(rounds)
	if err != nil {
		return nil, err
	}
	return newComparison(records, found), nil
}

// inspector is called with a workload after its measurement.
type inspector = func(context.Context, device.Device, *bench.Instance) error

// replay measures the Go side.
func (c *Config) replay(ctx context.Context, s setting, p *progress, inspect inspector) ([]bench.Record, error) {
	burst, options := c.burst(s)
	return bench.Run(ctx, bench.Config{
		Open:       c.Open,
		Workloads:  []*bench.Workload{s.workload},
		Sizes:      []int{s.size},
		Memory:     s.memory,
		Threads:    s.threads,
		Seed:       c.Seed,
		Strategies: c.Strategies,
		Backends:   c.Backends,
		Iterations: c.Iterations,
		Sample:     c.Sample,
		Burst:      burst,
		Options:    options,
		Inspect:    inspect,
		Progress:   p.replays,
	})
}
