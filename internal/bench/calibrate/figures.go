package calibrate

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/internal/profiles"
)

// Row is one line of the report.
type Row struct {
	Name   string // of the figure, or of a value without a place in a profile
	Value  float64
	Base   float64 // value in the base profile; NaN if it has no place in a profile
	Spread float64
	From   string
}

// Origins of figures.
const (
	measured = "measured"
	reported = "reported by the device"
)

// report sets a figure that the device reports; 0 means that it does not.
func (s *session) report(name string, v float64) {
	if v > 0 {
		s.enter(name, Estimate{Value: v}, reported)
	}
}

// measure sets a measured figure.
func (s *session) measure(name string, e Estimate) { s.enter(name, e, measured) }

// enter sets a figure of the profile. A value out of bounds is the result of noise, and leaves the base profile's
// value.
func (s *session) enter(name string, e Estimate, from string) {
	f := profiles.LookupFigure(name)
	if f == nil {
		panic("BUG: there is no figure " + name)
	}
	if err := f.Set(&s.file.Profile, e.Value); err != nil || math.IsNaN(e.Value) {
		s.file.Origins[name] = profiles.Origin{From: fmt.Sprintf("taken over from %s, since %v was measured", s.base.ID, e.Value)}
		return
	}
	s.file.Origins[name] = profiles.Origin{From: from, Spread: e.Spread}
}

// note adds a value to the report that has no place in a profile.
func (s *session) note(name string, e Estimate) {
	s.rows = append(s.rows, Row{Name: name, Value: e.Value, Base: math.NaN(), Spread: e.Spread, From: measured})
}

// of returns a figure found so far.
func (s *session) of(name string) Estimate {
	return Estimate{profiles.LookupFigure(name).Of(&s.file.Profile), s.file.Origins[name].Spread}
}
