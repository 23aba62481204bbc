package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// bs is Black–Scholes: call prices for ten independent vectors of spot prices.
//
//	copy x0 ─► bs ─► copy y0
//	  …
//	copy x9 ─► bs ─► copy y9
var bs = &Workload{
	Name: "bs", Title: "B&S",
	Doc:     "Black–Scholes: 10 independent kernels in double precision, each behind a copy",
	Unit:    "options per vector",
	Sizes:   []int{1 << 17},
	Tiny:    1 << 10,
	Threads: 256,
	Blocks:  perSM,
	trace:   traceBS,
	Fits: func(n int) error {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("bs takes vectors of 1 to 2^30 options, not %d", n)
		}
		return nil
	},
}

const (
	bsVectors = 10
	// A price near 10 is the difference of terms near 40, and the kernel's logarithm and exponentials have errors of
	// one or two units in the last place.
	bsTolerance = 1e-11
	// Memory of a sampled device holds zeros, and the logarithm of zero takes a shorter path through the code than
	// that of a price. So the first bsSteered options are written. They cover the first iterations of a sampled
	// block's loop, which are the only ones that run.
	bsSteered = 1 << 22
)

var bsOption = reference.Option{Rate: 0.08, Volatility: 0.3, Years: 1, Strike: 60}

func traceBS(dev device.Device, p Params) (*Instance, error) {
	var s shapes
	shape := s.add(kernels.BSShape(p.Blocks, p.Threads, p.Size))
	if s.err != nil {
		return nil, s.err
	}
	t := newProgram(dev, "bs", p)
	kernel := t.kernel("bs")
	var x, y [bsVectors]array
	for m := range x {
		x[m] = t.transferred(fmt.Sprint("x", m), ir.F64, int64(p.Size), ir.Input)
		y[m] = t.transferred(fmt.Sprint("y", m), ir.F64, int64(p.Size), ir.Output)
	}
	o := bsOption
	for m := range x {
		t.upload(x[m])
		t.Launch(kernel, shape, x[m].dev, y[m].dev, p.Size, o.Rate, o.Volatility, o.Years, o.Strike)
		t.download(y[m])
	}

	return finish(t, proof[*bsData]{
		data: func() *bsData { return newBSData(p.Size, p.Seed) },
		reset: func(d *bsData) error {
			for m := range x {
				err := firstError(
					t.poison(y[m].dev, y[m].host),
					refill(t, x[m], d.spot[m]),
				)
				if err != nil {
					return err
				}
			}
			return nil
		},
		check: func(d *bsData) (largest float64, err error) {
			got := make([]float64, p.Size)
			for m, want := range d.price {
				if err := tracer.Read(got, y[m].host); err != nil {
					return largest, err
				}
				diff, _ := reference.MaxAbsDiff(got, want)
				largest = max(largest, diff)
				if err := reference.Compare(fmt.Sprint("y", m), got, want, bsTolerance); err != nil {
					return largest, err
				}
			}
			return largest, nil
		},
		hash: func(d *bsData) (h uint64) {
			for _, spot := range d.spot {
				h = input.Hash(h, spot)
			}
			return h
		},
		steer: func() error {
			for m := range x {
				spot := spotPrices(m, min(p.Size, bsSteered), p.Seed)
				if err := tracer.Write(x[m].dev.Slice(0, int64(len(spot))), spot); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// bsData holds the inputs and the expected results of replays of one size.
type bsData struct{ spot, price [bsVectors][]float64 }

func newBSData(n int, seed uint64) *bsData {
	d := &bsData{}
	for m := range d.spot {
		d.spot[m] = spotPrices(m, n, seed)
		d.price[m] = reference.BS(d.spot[m], bsOption)
	}
	return d
}

// spotPrices returns the first n prices of vector m, within 50 % of the strike.
func spotPrices(m, n int, seed uint64) []float64 {
	random := input.Of(fmt.Sprint("bs/x", m), seed)
	return input.Array(n, func(i int) float64 { return 59.5 + random.Float64(i) })
}
