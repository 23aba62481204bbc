package calibrate

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

// Row is one line of the report.
type Row struct {
	Name   string // of the figure, or of what has no place in a profile
	Value  float64
	Base   float64 // of the base profile, NaN for what has no place in a profile
	Spread float64
	From   string
}

// Where figures are from.
const (
	measured = "measured"
	reported = "reported by the device"
)

// report takes a figure that the device tells of itself; 0 is what it does not know.
func (s *session) report(name string, v float64) {
	if v > 0 {
		s.enter(name, Estimate{Value: v}, reported)
	}
}

// measure takes a measured figure.
func (s *session) measure(name string, e Estimate) { s.enter(name, e, measured) }

// enter puts a figure into the profile. One that no device can have comes from noise,
// and the base profile's stays.
func (s *session) enter(name string, e Estimate, from string) {
	f := model.LookupFigure(name)
	if f == nil {
		panic("BUG: there is no figure " + name)
	}
	if err := f.Set(&s.file.Profile, e.Value); err != nil || math.IsNaN(e.Value) {
		s.file.Origins[name] = model.Origin{From: fmt.Sprintf("taken over from %s, since %v was measured", s.base.ID, e.Value)}
		return
	}
	s.file.Origins[name] = model.Origin{From: from, Spread: e.Spread}
}

// note keeps what is worth reporting and has no place in a profile.
func (s *session) note(name string, e Estimate) {
	s.rows = append(s.rows, Row{Name: name, Value: e.Value, Base: math.NaN(), Spread: e.Spread, From: measured})
}

// of is a figure found so far.
func (s *session) of(name string) Estimate {
	return Estimate{model.LookupFigure(name).Of(&s.file.Profile), s.file.Origins[name].Spread}
}
