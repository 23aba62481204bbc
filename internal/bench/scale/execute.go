package scale

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// lengths are the replays of the two runs whose difference is the steady state. Replays of many steps need fewer.
func lengths(steps int) (short, long int) {
	if steps >= 20 {
		return 1, 2
	}
	return 2, 6
}

// steady returns the time of a step in the steady state. run runs a number of replays and returns the virtual time behind
// them. It also returns how many replays were run.
func steady(p *distribute.Plan, steps int, run func(replays int) (model.Time, error)) (us float64, replays int, err error) {
	short, long := lengths(steps)
	var at [3]model.Time
	for i, n := range [3]int{len(p.Rounds), short, long} {
		if at[i], err = run(n); err != nil {
			return 0, 0, err
		}
		replays += n
	}
	spent := (at[2] - at[1]) - (at[1] - at[0])
	return float64(spent) / float64(model.Microsecond) / float64((long-short)*steps), replays, nil
}

// execute runs a plan on simulated devices. It returns the time of a step and the greatest error of the results. check is
// the error of wrong results.
func execute(ctx context.Context, m *machine.Machine, in *programs.Instance, plan *distribute.Plan) (us, maxError float64, check, err error) {
	err = onRanks(ctx, m, func(ctx context.Context, r *ranks.Rank) error {
		p, err := r.Prepare(ctx, plan, ranks.Options{})
		if err != nil {
			return err
		}
		defer p.Close()
		if err := in.Start(func(b tracer.Buffer, data []byte) error { return p.Write(b.Range(), data) }); err != nil {
			return err
		}
		step, replays, err := steady(plan, in.Steps, func(n int) (model.Time, error) {
			err := p.Run(ctx, n)
			return model.Time(r.Now()/time.Nanosecond) * model.Nanosecond, err
		})
		if err != nil {
			return err
		}
		results, err := resultsOf(ctx, p, in)
		if err == nil && r.Number() == 0 {
			us = step
			maxError, check = in.Check(replays, func(data []byte, b tracer.Buffer) error {
				copy(data, results[b.ID()])
				return nil
			})
		}
		return errors.Join(err, p.Close())
	})
	return us, maxError, check, err
}

// resultsOf reads the results, which is collective, by buffer.
func resultsOf(ctx context.Context, p *ranks.Plan, in *programs.Instance) (map[ir.BufferID][]byte, error) {
	results := map[ir.BufferID][]byte{}
	for _, b := range in.Results() {
		data := make([]byte, b.Bytes())
		if err := p.Read(ctx, data, b.Range()); err != nil {
			return nil, err
		}
		results[b.ID()] = data
	}
	return results, nil
}
