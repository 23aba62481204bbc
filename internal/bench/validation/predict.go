package validation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Result is the prediction for a row.
type Result struct {
	Row         *Row
	PredictedUS float64
	Limit       string // the cause of most of the kernel's time: "DRAM", "fp64 pipe"
	Detail      string // counts of one launch, for people
	Err         error  // why there is no prediction; nil if there is
}

// Ratio returns the predicted time divided by the measured one.
func (r *Result) Ratio() float64 { return r.PredictedUS / r.Row.MeasuredUS }

// Predict runs the rows of the sets whose ID contains only, each on a simulated device of its own, on all processors.
// The results are in the order of the rows. If ctx is done, the rows that are not begun are missing. progress, if not
// nil, is called after each row, from one goroutine at a time.
func Predict(ctx context.Context, sets []*Set, only string, progress func(what string, done, total int)) ([]Result, error) {
	return predictWith(ctx, sets, only, func(*Row) factors { return nil }, progress)
}

// predictWith is Predict with the constants of each row's profile multiplied by factors.
func predictWith(ctx context.Context, sets []*Set, only string, change func(*Row) factors, progress func(what string, done, total int)) ([]Result, error) {
	type job struct {
		set *Set
		row *Row
	}
	var jobs []job
	for _, s := range sets {
		for i := range s.Rows {
			if strings.Contains(s.Rows[i].ID, only) {
				jobs = append(jobs, job{s, &s.Rows[i]})
			}
		}
	}
	results := make([]Result, len(jobs))
	var mu sync.Mutex
	next, done := 0, 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	report := func(row *Row) {
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(row.ID, done, len(jobs))
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				results[i] = jobs[i].set.predict(jobs[i].row, change(jobs[i].row))
				report(jobs[i].row)
			}
		})
	}
	workers.Wait()
	return results[:next], ctx.Err()
}

// predict runs one row, with the constants of its profile multiplied by f.
func (s *Set) predict(r *Row, f factors) (res Result) {
	res.Row = r
	defer func() {
		if p := recover(); p != nil { // other rows still count
			res.Err = fmt.Errorf("panic: %v", p)
		}
	}()
	profile, err := s.profile(r)
	if err != nil {
		res.Err = err
		return res
	}
	dev, err := sim.New(sim.Options{Custom: f.apply(profile), Sample: r.Sample, Workers: 1})
	if err != nil {
		res.Err = err
		return res
	}
	res.Err = device.Join(s.predictOn(dev, &res), dev.Close())
	return res
}

// errNoTime is the error of a prediction that is no time.
var errNoTime = errors.New("the predicted time is not a number above 0")

func (s *Set) predictOn(dev *sim.Device, res *Result) error {
	c, err := prepare(dev, s, res.Row)
	if err != nil {
		return err
	}
	if res.PredictedUS, err = c.measure(res.Row.Mode); err != nil {
		return err
	}
	if !(res.PredictedUS > 0) || math.IsInf(res.PredictedUS, 0) {
		return errNoTime
	}
	return c.explain(res)
}

// explain describes one more launch, with L2 as the mode has it.
func (c *contract) explain(res *Result) error {
	if res.Row.Mode.cold() {
		if err := c.flush(); err != nil {
			return err
		}
	}
	w, err := c.observe()
	if err != nil {
		return err
	}
	l := w.Launched
	res.Limit = w.Limit
	res.Detail = fmt.Sprintf("kernel %.2fus %d/SM %.3gMB L2 %.3gMB DRAM %.3gMwi", float64(w.Took)/1e6, l.PerSM, l.L2Bytes/1e6, l.DRAMBytes/1e6,
		float64(l.WarpInsts)/1e6)
	return nil
}
