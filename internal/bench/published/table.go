package published

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
)

// Write compares results on one simulated device with the published ones of the real device, as Markdown tables.
func Write(w io.Writer, all []compare.Comparison) error {
	if len(all) == 0 {
		return nil
	}
	d, err := lookup(all[0].Device)
	if err != nil {
		return err
	}
	t := &tables{w: w}
	for i := range d.benchmarks {
		if o := collect(all, d.benchmarks[i].workload); len(o.points) > 0 {
			t.rows = append(t.rows, row{&d.benchmarks[i], o})
		}
	}
	if len(t.rows) == 0 {
		return CoversSize(all[0].Workload, all[0].Size)
	}
	t.printf("# %s, beside the published figures\n\n", all[0].Device)
	t.printf("Simulated: virtual time%s. Published: A. Parravicini et al., IPDPS 2021, on the card itself.\n", sampled(&all[0]))
	t.printf("Written by `reprise compare --published`. Off by more than a quarter is **bold**.\n")
	t.speedups(d)
	t.times()
	t.overlaps()
	return t.err
}

func sampled(c *compare.Comparison) string {
	if c.Sample == 0 {
		return ""
	}
	return fmt.Sprintf(", %d blocks of each launch run", c.Sample)
}

type tables struct {
	w    io.Writer
	rows []row
	err  error
}

// row is a benchmark with its comparisons.
type row struct {
	*benchmark
	ours
}

func (t *tables) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *tables) title(text string, columns ...string) {
	t.printf("\n## %s\n\n| %s |\n|---|%s\n", text, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)-1))
}

// speedups writes geometric means over sizes and block sizes and, in the last line, over the benchmarks.
func (t *tables) speedups(d *device) {
	t.title("Speedup over serial execution", "", "published", "their way", "off", "prefetch", "managed", "to the best C++ version, at worst")
	columns := []func(*point) float64{
		(*point).speedup,
		func(p *point) float64 { return p.within("prefetch") },
		func(p *point) float64 { return p.within("managed") },
	}
	var means [3][]float64
	worst := 0.0
	line := func(name string, published float64, ours [3]float64, worst float64) {
		t.printf("| %s | %.2f | %s | %s | %s | %s | %s |\n", name, published, times(ours[0]), off(ours[0], published), times(ours[1]), times(ours[2]), known("%.4f", worst))
	}
	for _, r := range t.rows {
		var of [3]float64
		for i, value := range columns {
			of[i] = r.mean(value)
			means[i] = append(means[i], of[i])
		}
		line(name(r.workload), r.benchmark.speedup, of, r.worst())
		worst = max(worst, r.worst())
	}
	if len(t.rows) == len(d.benchmarks) {
		var of [3]float64
		for i := range means {
			of[i] = compare.GeometricMean(means[i])
		}
		line("geometric mean", d.speedup(), of, worst)
	}
	t.printf("\n*Their way* divides the time of a serial run without prefetches (C++ `sync`, managed) by that of our best plan with them.\n" +
		"*prefetch* and *managed* keep to one memory mode on both sides.\n")
}

// times writes medians over the block sizes, in ms.
func (t *tables) times() {
	t.title("Times in ms", "", "size", "serial, published", "ours", "off", "parallel, published", "ours", "off")
	for _, r := range t.rows {
		for i, serial := range r.benchmark.serial {
			size, parallel := sizes[r.workload][2*i], r.benchmark.parallel[i]
			if r.best(size) == nil {
				continue
			}
			ourSerial := r.median(size, (*point).serial) / 1000
			ourParallel := r.median(size, func(p *point) float64 { return p.parallel().ReplayUS }) / 1000
			t.printf("| %s | %d | %g | %s | %s | %g | %s | %s |\n", name(r.workload), size,
				serial, time(ourSerial), off(ourSerial, serial), parallel, time(ourParallel), off(ourParallel, parallel))
		}
	}
}

// overlaps writes overlaps at one size, and means of the bounds as for speedups.
func (t *tables) overlaps() {
	t.title("Contention-free bound in ms and over the time, and overlap in %", "", "bound, published", "ours", "off", "over time", "ours", "CT, published", "ours", "TC", "ours", "CC", "ours", "TOT", "ours")
	for _, r := range t.rows {
		var ours *overlap.Shares
		bound := r.median(largest(r.workload), (*point).bound) / 1000
		if p := r.best(largest(r.workload)); p != nil {
			ours = p.parallel().Overlap
		}
		t.printf("| %s | %g | %s | %s | %.2f | %s |", name(r.workload), r.boundMS, time(bound), off(bound, r.boundMS), r.bound, known("%.2f", r.mean(func(p *point) float64 { return p.parallel().OfBound })))
		for _, share := range []func(*overlap.Shares) float64{
			func(s *overlap.Shares) float64 { return s.CT },
			func(s *overlap.Shares) float64 { return s.TC },
			func(s *overlap.Shares) float64 { return s.CC },
			func(s *overlap.Shares) float64 { return s.TOT },
		} {
			t.printf(" %.1f |", 100*share(&r.overlap))
			if ours == nil {
				t.printf(" - |")
			} else {
				t.printf(" %.1f |", 100*share(ours))
			}
		}
		t.printf("\n")
	}
}

// name returns the paper's name of a workload.
func name(workload string) string {
	if workload == "bs" {
		return "B&S"
	}
	return strings.ToUpper(workload)
}

// notable is the relative deviation that needs an explanation.
const notable = 0.25

// off formats the relative deviation of a value, in bold if it is notable.
func off(value, from float64) string {
	if value == 0 || from == 0 {
		return "-"
	}
	by := value/from - 1
	text := fmt.Sprintf("%+.0f %%", 100*by)
	if by > notable || by < -notable {
		return "**" + text + "**"
	}
	return text
}

func times(v float64) string { return known("%.2f", v) }

// time formats ms with three digits, and without decimals from one second on.
func time(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return known("%.3g", v)
}

func known(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
