package validation

import (
	"context"
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

// HeldOut is a cross-validation of the model. Each GPU, or each kernel, is held out in turn. The estimated constants are
// fitted to all other rows, and the rows held out are predicted with the constants so fitted.
type HeldOut struct {
	By        string     `json:"by"` // "gpu" or "kernel"
	Constants []Fitted   `json:"constants"`
	Predicted Statistics `json:"predicted"` // of all rows, each predicted without its own GPU or kernel
}

// Fitted is a constant in the fits of a cross-validation, as factors of its value in the profiles.
type Fitted struct {
	Name     string  `json:"name"`
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
}

// constant is a figure of all profiles that comes from no data sheet.
type constant struct {
	name  string
	scale func(p *model.Profile, by float64)
}

// constants are those that are estimated from times of kernels and are not specific to one kind of kernel.
var constants = []constant{
	{"memory_share", func(p *model.Profile, by float64) { p.MemoryShare = min(1, p.MemoryShare*by) }},
	{"sm_gbps", func(p *model.Profile, by float64) { p.SMGBps *= by }},
	{"l2_gbps", func(p *model.Profile, by float64) { p.L2GBps *= by }},
	{"kernel_ramp_ns", func(p *model.Profile, by float64) { p.KernelRamp = scaled(p.KernelRamp, by) }},
	{"flush_latency_ns", func(p *model.Profile, by float64) { p.FlushLatency = scaled(p.FlushLatency, by) }},
	{"block_latency_ns", func(p *model.Profile, by float64) { p.BlockLatency = scaled(p.BlockLatency, by) }},
	{"warp_latency_ns", func(p *model.Profile, by float64) { p.WarpLatency = scaled(p.WarpLatency, by) }},
}

func scaled(t model.Time, by float64) model.Time { return model.Time(math.Round(float64(t) * by)) }

// factors holds a factor for each of constants. A nil factors leaves all as they are.
type factors []float64

// apply returns a copy of a profile with its constants multiplied by f.
func (f factors) apply(p *model.Profile) *model.Profile {
	if f == nil {
		return p
	}
	changed := *p
	for i, c := range constants {
		c.scale(&changed, f[i])
	}
	return &changed
}

// step is the factor by which the slopes of the predictions are measured.
const step = 1.25

// Refit cross-validates the model, by GPU and by kernel. Every row is predicted once for each constant and once for each
// of the two properties. Rows of LaunchClass take part in the fits and not in the statistics. results are those of
// Predict for the same sets and the same only; rows that failed are left out.
//
// For small changes, the logarithm of a predicted time is linear in the logarithms of the constants. The slopes follow
// from one prediction per constant. Each fit minimizes the sum of the absolute logarithms of predicted over measured
// time, so single kernels that the model misses have little weight (leastAbsolute). The rows held out are then
// predicted with the fitted constants, not by the linear approximation.
func Refit(ctx context.Context, sets []*Set, only string, results []Result, progress func(what string, done, total int)) ([]HeldOut, error) {
	runs, run := len(constants)+2, 0
	predict := func(set func(*Row) factors) ([]Result, error) {
		run++
		return predictWith(ctx, sets, only, set, func(what string, done, total int) {
			if progress != nil {
				progress(what, (run-1)*total+done, runs*total)
			}
		})
	}
	slopes := make([][]float64, len(results)) // of each row, by constant
	for c := range constants {
		changed := make(factors, len(constants))
		for i := range changed {
			changed[i] = 1
		}
		changed[c] = step
		with, err := predict(func(*Row) factors { return changed })
		if err != nil {
			return nil, err
		}
		for i := range results {
			slope := 0.0
			if results[i].Err == nil && with[i].Err == nil {
				slope = math.Log(with[i].PredictedUS/results[i].PredictedUS) / math.Log(step)
			}
			slopes[i] = append(slopes[i], slope)
		}
	}
	var held []HeldOut
	for _, p := range properties {
		if p.name != "gpu" && p.name != "kernel" {
			continue
		}
		fits := fitWithout(results, slopes, p.of)
		if len(fits) < 2 {
			continue
		}
		with, err := predict(func(r *Row) factors { return fits[p.of(r)] })
		if err != nil {
			return nil, err
		}
		held = append(held, HeldOut{By: p.name, Constants: ranges(fits), Predicted: Describe(counted(with))})
	}
	return held, nil
}

// counted returns the results that have a prediction and measure more than a launch.
func counted(results []Result) (list []*Result) {
	for i := range results {
		if r := &results[i]; r.Err == nil && r.Row.Class != LaunchClass {
			list = append(list, r)
		}
	}
	return list
}

// fitWithout returns, for each value of a property, the constants fitted to the rows with other values.
func fitWithout(results []Result, slopes [][]float64, of func(*Row) string) map[string]factors {
	fits := map[string]factors{}
	for part := range partition(counted(results), of) {
		var rows [][]float64
		var logs []float64
		for i := range results {
			if r := &results[i]; r.Err == nil && of(r.Row) != part {
				rows, logs = append(rows, slopes[i]), append(logs, math.Log(r.Ratio()))
			}
		}
		fit := make(factors, len(constants))
		for i, x := range leastAbsolute(rows, logs, len(constants)) {
			fit[i] = math.Exp(x)
		}
		fits[part] = fit
	}
	return fits
}

// ranges returns the least and the greatest factor of each constant.
func ranges(fits map[string]factors) (list []Fitted) {
	for i, c := range constants {
		f := Fitted{Name: c.name, Least: math.Inf(1)}
		for _, fit := range fits {
			f.Least, f.Greatest = min(f.Least, fit[i]), max(f.Greatest, fit[i])
		}
		list = append(list, f)
	}
	return list
}
