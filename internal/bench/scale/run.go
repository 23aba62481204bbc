package scale

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks/timing"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Config selects what Run measures.
type Config struct {
	Programs []*programs.Program
	Machine  *machine.Machine
	Devices  []int // numbers of devices, ascending
	Execute  int   // the greatest number of devices on which kernels are executed
	Options  distribute.Options
	Progress func(what string, done, all int) // may be nil
	Row      func(Record)                     // called for each row; may be nil
}

// Rows returns the number of rows.
func (c *Config) Rows() int { return len(c.Programs) * len(c.Devices) }

// Run measures each program on each number of devices. After an error, the rows so far are returned with it.
func Run(ctx context.Context, c Config) (rows []Record, err error) {
	for _, p := range c.Programs {
		first := len(rows)
		for _, n := range c.Devices {
			if c.Progress != nil {
				c.Progress(fmt.Sprintf("%v on %d devices", p, n), len(rows), c.Rows())
			}
			row, err := measure(ctx, &c, p, n)
			if err != nil {
				return rows, fmt.Errorf("%v on %d devices: %w", p, n, err)
			}
			base := &row
			if len(rows) > first {
				base = &rows[first]
			}
			row.Efficiency = base.StepUS * float64(base.Devices) / (row.StepUS * float64(n))
			rows = append(rows, row)
			if c.Row != nil {
				c.Row(row)
			}
		}
	}
	return rows, nil
}

// measure measures a program on the first devices of a machine.
func measure(ctx context.Context, c *Config, prog *programs.Program, devices int) (row Record, err error) {
	m, err := c.Machine.First(devices)
	if err != nil {
		return row, err
	}
	in, g, err := record(prog)
	if err != nil {
		return row, err
	}
	plan, row, err := planned(g, m, c.Options)
	if err != nil {
		return row, err
	}
	_, row.Size, _ = strings.Cut(prog.String(), ":")
	row.Workload, row.Machine, row.Ranks, row.Devices = prog.Kind.Name, c.Machine.ID, len(m.Ranks), devices
	row.Tiles = c.Options.Tiles
	row.Steps, row.Tasks = in.Steps, float64(launches(g))/float64(in.Steps)
	host, err := hostTime(ctx, m, plan)
	if err != nil {
		return row, err
	}
	row.HostUS = host / float64(in.Steps)
	sent(&row, plan, in.Steps)
	if row.Executed = devices <= c.Execute; row.Executed {
		err = executed(ctx, &row, m, in, plan)
	} else {
		row.OK = true
		row.StepUS, err = timed(ctx, m, in, plan)
	}
	if err == nil {
		schedule(&row, m)
	}
	return row, err
}

// record traces a program. Nothing is allocated.
func record(prog *programs.Program) (*programs.Instance, *ir.Graph, error) {
	tr := tracer.New(null.New(), prog.Kind.Name, tracer.Deferred)
	in := prog.Record(tr)
	trace, err := tr.Finish()
	if err != nil {
		return nil, nil, err
	}
	return in, trace.Graph, nil
}

// planned makes and verifies a plan, and notes the times.
func planned(g *ir.Graph, m *machine.Machine, o distribute.Options) (plan *distribute.Plan, row Record, err error) {
	layout := distribute.LayoutOf(m)
	row.PlanMS, err = least(func() (err error) {
		plan, err = distribute.New(g, layout, o)
		return err
	})
	if err != nil {
		return nil, row, err
	}
	if row.VerifyMS, err = least(func() error { return distribute.Verify(plan) }); err != nil {
		return nil, row, fmt.Errorf("BUG: %w", err)
	}
	for d := range plan.Memory {
		row.Memory = max(row.Memory, plan.Bytes(d))
	}
	return plan, row, nil
}

// least returns the least real time of several runs of a function, in ms. Whatever disturbs a run makes it longer. A slow
// function runs once.
func least(f func() error) (ms float64, err error) {
	const runs, enough = 5, time.Second
	ms = math.Inf(1)
	for began, i := time.Now(), 0; i < runs && (i == 0 || time.Since(began) < enough); i++ {
		at := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		ms = min(ms, milliseconds(time.Since(at)))
	}
	return ms, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// launches returns the number of launches of a graph.
func launches(g *ir.Graph) (n int) {
	for v := range g.Ops {
		if g.Ops[v].Kind == ir.KindLaunch {
			n++
		}
	}
	return n
}

// executed runs the plan on simulated devices.
func executed(ctx context.Context, row *Record, m *machine.Machine, in *programs.Instance, plan *distribute.Plan) error {
	us, maxError, check, err := execute(ctx, m, in, plan)
	if err != nil {
		return err
	}
	row.StepUS, row.MaxError, row.OK = us, &maxError, check == nil
	if check != nil {
		row.Error = check.Error()
	}
	return nil
}

// timed returns the time of a step without executing kernels.
func timed(ctx context.Context, m *machine.Machine, in *programs.Instance, plan *distribute.Plan) (us float64, err error) {
	demand, err := demands(ctx, m, in, plan)
	if err != nil {
		return 0, err
	}
	s := timing.New(plan, m, demand)
	us, _, err = steady(plan, in.Steps, func(replays int) (model.Time, error) { return s.Run(replays), ctx.Err() })
	return us, err
}

// sent sets the bytes and messages of a step in the steady state, between ranks and between devices of a rank.
func sent(row *Record, plan *distribute.Plan, steps int) {
	repeated := plan.Rounds[plan.Repeat:]
	for r := range repeated {
		for i := range repeated[r].Ops {
			if op := &repeated[r].Ops[i]; op.Kind == distribute.Push || op.Kind == distribute.In && op.Exchange < 0 {
				row.Bytes += float64(op.Bytes.Hi - op.Bytes.Lo)
				row.Messages++
			}
		}
		for x := range repeated[r].Exchanges {
			repeated[r].Exchanges[x].Messages(row.Ranks, func(_, _ int, bytes int64) {
				row.Bytes += float64(bytes)
				row.Messages++
			})
		}
	}
	row.Bytes /= float64(len(repeated) * steps)
	row.Messages /= float64(len(repeated) * steps)
}

// schedule compares a row with the model of a dynamic scheduler. Each rank is a node of the model.
func schedule(row *Record, m *machine.Machine) {
	most := 0
	for _, r := range m.Ranks {
		most = max(most, len(r.Devices))
	}
	row.SchedulerUS = row.Tasks * Scheduler{}.TaskUS(len(m.Ranks), most)
	row.DynamicUS = max(row.StepUS, row.SchedulerUS)
	row.Gain = row.DynamicUS / row.StepUS
}
