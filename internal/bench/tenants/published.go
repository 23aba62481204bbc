package tenants

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// publication has results of P. Jain et al. (see Published) for products of one shape.
type publication struct {
	points []point
	gains  []gain
}

// point has rates of figure 7 for one number of tenants, in GFLOP/s by mode.
type point struct {
	tenants int
	rates   map[Mode]float64
}

// gain is a geometric mean of ratios of rates: of space-time over another mode.
type gain struct {
	over Mode
	all  float64 // of R = 1, 2, 4, ... 118; 0 if it was not published
	many float64 // of R >= 2
}

// publications has the results by shape. The points are digitised from figure 7, at R = 1, 2 and both ends of its teeth.
// The geometric means are those of the 60 points of the figure, and those of table 1, over the next best mode.
var publications = map[string]publication{
	"256x128x1152": {
		points: []point{
			at(1, 294, 277, 195), at(2, 396, 445, 407), at(10, 462, 940, 1830), at(20, 482, 1139, 3561),
			at(22, 484, 1166, 2723), at(40, 494, 1275, 4867), at(42, 494, 1282, 3775), at(60, 496, 1271, 5295),
			at(62, 497, 1255, 4362), at(80, 499, 1257, 5587), at(82, 499, 1270, 4675), at(98, 500, 1279, 5422),
			at(118, 500, 1281, 5422),
		},
		gains: []gain{{Space, 3.23, 3.31}, {Time, 7.71, 8.04}},
	},
	"512x1x512":   {gains: []gain{{Time, 0, 2.48}}},
	"256x256x256": {gains: []gain{{Space, 0, 4.93}}},
}

func at(tenants int, time, space, spaceTime float64) point {
	return point{tenants, map[Mode]float64{Time: time, Space: space, SpaceTime: spaceTime}}
}

// drawn lists the modes of figure 7.
var drawn = []Mode{Time, Space, SpaceTime}

// WritePublished prints the rates of records of products of a shape, "MxNxK", beside the published ones, and the geometric
// means of the gains of space-time. It prints nothing if nothing was published for the shape.
func WritePublished(w io.Writer, shape string, records []Record) error {
	p, ok := publications[shape]
	if !ok {
		return nil
	}
	rates := ratesOf(records)
	fmt.Fprintf(w, "\nGFLOP/s of %s beside P. Jain et al. (2018):\n", shape)
	if err := p.writePoints(w, rates); err != nil {
		return err
	}
	for _, g := range p.gains {
		if mean, _ := meanGain(rates[SpaceTime], rates[g.over], 2); mean == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w, g.compare(rates)); err != nil {
			return err
		}
	}
	return nil
}

// ratesOf returns the rates by mode and number of tenants.
func ratesOf(records []Record) map[Mode]map[int]float64 {
	rates := map[Mode]map[int]float64{}
	for i := range records {
		r := &records[i]
		m := Mode(slices.Index(modeNames[:], r.Mode))
		if rates[m] == nil {
			rates[m] = map[int]float64{}
		}
		rates[m][r.Tenants] = r.GFlops
	}
	return rates
}

// writePoints prints a row for each number of tenants that occurs, with "-" for what was not measured or digitised.
func (p *publication) writePoints(w io.Writer, rates map[Mode]map[int]float64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tenants\ttime\tpublished\tspace\tpublished\tspacetime\tpublished\t")
	for _, n := range tenantsOf(rates) {
		row := []string{fmt.Sprint(n)}
		for _, m := range drawn {
			row = append(row, rate(rates[m][n]), rate(p.rate(n, m)))
		}
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	return t.Flush()
}

func rate(gflops float64) string {
	if gflops == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", gflops)
}

// rate returns a published rate, or 0.
func (p *publication) rate(tenants int, m Mode) float64 {
	for _, x := range p.points {
		if x.tenants == tenants {
			return x.rates[m]
		}
	}
	return 0
}

// tenantsOf lists the numbers of tenants of the drawn modes, ascending.
func tenantsOf(rates map[Mode]map[int]float64) (list []int) {
	for _, m := range drawn {
		for n := range rates[m] {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compare describes the gain over a mode beside the published one.
func (g *gain) compare(rates map[Mode]map[int]float64) string {
	text := fmt.Sprintf("spacetime over %v, geometric mean", g.over)
	if mean, n := meanGain(rates[SpaceTime], rates[g.over], 1); rates[SpaceTime][1] > 0 && g.all > 0 {
		text += fmt.Sprintf(" of %d numbers of tenants: %.2f (published, of 60: %.2f);", n, mean, g.all)
	}
	mean, n := meanGain(rates[SpaceTime], rates[g.over], 2)
	published := 60 // table 1: R = 2, 4, ... 120
	if g.all > 0 {
		published = 59
	}
	return text + fmt.Sprintf(" of %d from 2: %.2f (published, of %d: %.2f)", n, mean, published, g.many)
}

// meanGain returns the geometric mean of the ratios of two rates, for the numbers of tenants from first that both have,
// and how many these are.
func meanGain(of, over map[int]float64, first int) (mean float64, n int) {
	sum := 0.0
	for tenants, r := range of {
		if o := over[tenants]; tenants >= first && r > 0 && o > 0 {
			sum += math.Log(r / o)
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return math.Exp(sum / float64(n)), n
}
