package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
)

// benchmark holds the published results of one benchmark on one device.
type benchmark struct {
	workload string
	// speedup is that of the parallel scheduler over the serial one: the geometric mean over all sizes and block
	// sizes (section 4.2). Serial runs wait after each kernel, and kernels fault their data in. Parallel runs
	// prefetch if the device can.
	speedup float64
	// serial and parallel are medians in ms, at every other size, beginning with the first.
	serial, parallel []float64
	// bound is the contention-free lower bound divided by the parallel time (section 4.5). The lower bound, boundMS,
	// is the critical path of kernels with their durations alone on the device.
	bound, boundMS float64
	// boundMS and overlap are for the largest size of the smallest device, overlap at the block size that was best
	// there (section 4.6). Some shares exceed 1, because the paper merges touching transfers and takes the sum of
	// their times as their duration.
	overlap overlap.Shares
}

// sizes lists the sizes of the evaluation. A device has as many of them, from the first, as fit in its memory.
var sizes = map[string][]int{
	"vec":  {20_000_000, 60_000_000, 80_000_000, 100_000_000, 120_000_000, 200_000_000, 500_000_000, 600_000_000, 700_000_000},
	"bs":   {2_000_000, 6_000_000, 8_000_000, 10_000_000, 12_000_000, 20_000_000, 50_000_000, 60_000_000, 70_000_000},
	"img":  {1600, 2400, 3200, 4000, 4800, 8000, 10_000, 12_000, 16_000},
	"ml":   {200_000, 500_000, 800_000, 1_000_000, 1_200_000, 2_000_000, 4_000_000, 5_000_000, 6_000_000},
	"hits": {4_000_000, 7_000_000, 10_000_000, 15_000_000, 20_000_000, 40_000_000, 60_000_000, 100_000_000, 140_000_000},
	"dl":   {3000, 4000, 5000, 6000, 7000, 10_000, 12_000, 14_000, 16_000},
}

// largest returns the size of boundMS and overlap.
func largest(workload string) int { return sizes[workload][4] }

type device struct {
	name       string
	benchmarks []benchmark
}

var devices = []device{
	{"gtx960", []benchmark{
		{"vec", 1.14, ms(19, 78, 117), ms(18, 70, 104), .95, 103, percent(29.4, 46.6, 4.2, 20.6)},
		{"bs", 1.28, ms(67, 265, 396), ms(56, 216, 324), .34, 110, percent(20.9, 87.1, 48.4, 52.8)},
		{"img", 1.58, ms(22, 70, 157), ms(13, 46, 99), .72, 74, percent(0, 0, 67, 67)},
		{"ml", 1.11, ms(682, 3156, 4777), ms(650, 2986, 4501), .80, 3577, percent(.2, 96.4, 41.9, 42)},
		{"hits", 1.11, ms(173, 442, 885), ms(160, 407, 820), .62, 502, percent(5.3, 46.8, 14.4, 17.7)},
		{"dl", 1.35, ms(56, 134, 255), ms(41, 99, 190), .75, 144, percent(5.7, 48.5, 37.7, 38.9)},
	}},
	{"gtx1660s", []benchmark{
		{"vec", 2.36, ms(33, 153, 221), ms(14, 61, 90), .55, 51, percent(34, 11.4, 0, 8.5)},
		{"bs", 1.79, ms(67, 264, 368), ms(39, 126, 225), .15, 31, percent(32.7, 106.5, 25.9, 43)},
		{"img", 1.29, ms(8, 31, 65, 315), ms(6, 24, 54, 244), .65, 37, percent(0, 51.4, 74.5, 74.5)},
		{"ml", 1.15, ms(162, 650, 975), ms(142, 570, 856), .79, 805, percent(1, 98.5, 31.2, 31.8)},
		{"hits", 1.39, ms(121, 313, 631), ms(85, 227, 459), .54, 249, percent(3.5, 7.9, 5.4, 6.2)},
		{"dl", 1.19, ms(21, 73, 153, 526), ms(15, 58, 134, 479), .55, 73, percent(14.2, 49.9, 1.6, 12.3)},
	}},
	{"p100", []benchmark{
		{"vec", 2.36, ms(39, 132, 202, 817, 1177), ms(15, 58, 87, 361, 506), .53, 46, percent(33.5, 7.1, 0, 5.9)},
		{"bs", 2.55, ms(41, 138, 218, 954, 1261), ms(17, 57, 85, 345, 482), .10, 9, percent(84.6, 13.7, 0, 11.8)},
		{"img", 1.40, ms(5, 16, 43, 178, 444), ms(3, 12, 28, 143, 342), .66, 21, percent(0, 55.2, 66.8, 66.8)},
		{"ml", 1.23, ms(170, 794, 1207, 5006, 10922), ms(159, 639, 1186, 4246, 14058), .91, 1073, percent(.6, 98.4, 32.5, 32.9)},
		{"hits", 1.61, ms(91, 228, 475, 1416, 3360), ms(54, 144, 298, 911, 2140), .51, 158, percent(9.6, 16.9, 4.6, 9.2)},
		{"dl", 1.23, ms(35, 86, 154, 533, 1023), ms(25, 64, 132, 478, 895), .55, 73, percent(14.1, 50, .8, 11.6)},
	}},
}

func ms(times ...float64) []float64 { return times }

func percent(ct, tc, cc, tot float64) overlap.Shares {
	return overlap.Shares{CT: ct / 100, TC: tc / 100, CC: cc / 100, TOT: tot / 100}
}

// speedup returns the geometric mean over all benchmarks, the headline result of the paper.
func (d *device) speedup() float64 {
	var all []float64
	for _, b := range d.benchmarks {
		all = append(all, b.speedup)
	}
	return compare.GeometricMean(all)
}

// Covers returns an error if there are no published results for a device.
func Covers(id string) error {
	_, err := lookup(id)
	return err
}

// CoversSize returns an error if there are no published results for a workload at a size.
func CoversSize(workload string, size int) error {
	if slices.Contains(sizes[workload], size) {
		return nil
	}
	return fmt.Errorf("nothing is published of %s at %d: there are figures at %s", workload, size,
		strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes[workload]), " ", ", "), "[]"))
}

// lookup returns the published results for a device of the simulator.
func lookup(id string) (*device, error) {
	var names []string
	for i := range devices {
		if "sim:"+devices[i].name == id {
			return &devices[i], nil
		}
		names = append(names, "sim:"+devices[i].name)
	}
	return nil, fmt.Errorf("nothing is published of %s: there are figures of %s", id, strings.Join(names, ", "))
}
