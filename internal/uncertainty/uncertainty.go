// Package uncertainty states how far predicted times may be off. It holds the errors of the time model on published
// times of kernels, by what bounds a kernel and by the kind of its device. The rows and the test that computes the
// errors are in package validation. The constants of the model are fitted to the same rows, so kernels that are unlike
// these are off by more.
package uncertainty

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// errors.csv has, for each class of rows and kind of device, the relative error that two thirds of the rows stay below.
//
//go:embed errors.csv
var table string

// Kinds of devices. Classes with fewer than five rows on a kind of device use the errors on any.
const (
	centre = "centre" // data-centre devices
	other  = "other"
	anyone = "any"
)

type key struct{ class, kind string }

var errorOf = sync.OnceValue(func() map[key]float64 { return parse(table) })

func parse(text string) map[key]float64 {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic("BUG: errors.csv: " + err.Error())
	}
	m := map[key]float64{}
	for _, r := range records[1:] {
		v, err := strconv.ParseFloat(r[3], 64)
		if err != nil {
			panic("BUG: errors.csv: " + err.Error())
		}
		m[key{r[0], r[1]}] = v
	}
	return m
}

// Kind returns the kind of a device.
func Kind(p *model.Profile) string {
	if des.DataCentre(p) {
		return centre
	}
	return other
}

// classes maps the limits of the time line that are not of class launch to classes of rows.
var classes = map[string]string{
	"DRAM bandwidth": "bandwidth",
	"L2 bandwidth":   "cache",
	"L2 atomics":     "atomics",
	"lsu pipe":       "shared",
	"latency":        "latency",
	"issue":          "compute", "fma pipe": "compute", "alu pipe": "compute", "fp64 pipe": "compute", "xu pipe": "compute",
	"branch pipe": "compute", "tensor pipe": "compute",
}

// given are limits whose time is not predicted from counts: it is declared, or comes from a figure of the host link.
var given = map[string]bool{"declared": true, "host call": true, "link in": true, "link out": true, "link": true, "page faults": true, "shared link": true}

// Share is a part of a predicted time.
type Share struct {
	Limit string // as sim.Step has it
	PS    int64
}

// Of returns the relative uncertainty of a time that consists of shares: their errors, weighted by time. Errors of one
// model do not cancel out, so that they add up. Time that is declared, or spent on the host link, has none of its own;
// without any other, Of returns 0.
func Of(shares []Share, p *model.Profile) float64 {
	var sum, all float64
	for _, s := range shares {
		t := float64(s.PS)
		all += t
		if !given[s.Limit] {
			sum += t * of(s.Limit, Kind(p))
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

func of(limit, kind string) float64 {
	class, ok := classes[limit]
	if !ok {
		class = "launch"
	}
	if e, ok := errorOf()[key{class, kind}]; ok {
		return e
	}
	return errorOf()[key{class, anyone}]
}

// Format returns an uncertainty as text, "± 8 %".
func Format(u float64) string { return fmt.Sprintf("± %.0f %%", 100*u) }
