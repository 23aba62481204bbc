package optimizer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/ir"
)

// A strategy or a pass is named by
//
//	text = name [ "(" parameter ")" ] .
//
// where the parameter is a number without sign or leading zeros, or words separated by colons.
// Each parameter thereby has one spelling, which is part of the strategy's name in a
// schedule.

// family is a strategy whose parameter is not set yet.
type family struct {
	name  string
	takes string // name of the parameter, "" if there is none
	doc   string
	make  maker
}

// maker returns the strategy with a parameter, which is "" if none was given. An
// error lists the allowed values.
type maker func(parameter string) (strategy, error)

// with returns the strategy with the given parameter, nil for none.
func (f *family) with(parameter *string) (strategy, error) {
	switch {
	case parameter == nil:
		return f.make("")
	case f.takes == "":
		return nil, fmt.Errorf("strategy %s takes no parameter: write %s", f.name, f.name)
	case *parameter == "":
		return nil, fmt.Errorf("strategy %s() lacks its parameter: write %s(%s), or %s alone", f.name, f.name, f.takes, f.name)
	}
	s, err := f.make(*parameter)
	if err != nil {
		return nil, fmt.Errorf("strategy %s takes %w, not %q", f.name, err, *parameter)
	}
	return s, nil
}

// splitName splits the text of a strategy or a pass into name and parameter; the parameter is nil if there is none.
func splitName(kind, text string) (name string, parameter *string, err error) {
	name, rest, open := strings.Cut(text, "(")
	if !open {
		return name, nil, nil
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed || strings.ContainsAny(inner, "()") {
		return "", nil, fmt.Errorf("%s %q is not of the form name or name(parameter); in a shell, quote it", kind, text)
	}
	return name, &inner, nil
}

// only returns the maker of a strategy without a parameter.
func only(s strategy) maker {
	return func(string) (strategy, error) { return s, nil }
}

// maxLanes is the largest number of lanes that an option accepts. GPUs run at most 128 kernels at
// once, so that a larger number is a mistake.
const maxLanes = 1 << 16

// lanes returns the maker of a strategy whose parameter is a number of lanes.
func lanes(byDefault int, with func(k int) strategy) maker {
	return func(parameter string) (strategy, error) {
		if parameter == "" {
			return with(byDefault), nil
		}
		k, err := number("lanes", maxLanes, parameter)
		if err != nil {
			return nil, err
		}
		return with(k), nil
	}
}

// number parses a parameter that is a number from 1 to limit.
func number(what string, limit int, parameter string) (int, error) {
	k, err := strconv.Atoi(parameter)
	if err != nil || k < 1 || k > limit || strconv.Itoa(k) != parameter {
		return 0, fmt.Errorf("a number of %s from 1 to %d", what, limit)
	}
	return k, nil
}

// word is a value of a parameter and the strategy it selects.
type word struct {
	word     string
	strategy strategy
}

// words returns the maker of a strategy whose parameter is one of a few words. The first is the
// default.
func words(all ...word) maker {
	return func(parameter string) (strategy, error) {
		if parameter == "" {
			return all[0].strategy, nil
		}
		names := make([]string, len(all))
		for i, w := range all {
			names[i] = w.word
		}
		if i := slices.Index(names, parameter); i >= 0 {
			return all[i].strategy, nil
		}
		return nil, fmt.Errorf("%s%s", strings.Join(names, " or "), phrase.DidYouMean(parameter, names))
	}
}

// setter sets the edit or the computation of a pass for a parameter. An error lists the allowed values.
type setter func(p *pass, parameter string) error

// times returns the setter of a pass whose parameter is a number.
func times(what string, with func(int) func(*ir.Graph) (*ir.Graph, error)) setter {
	return func(p *pass, parameter string) error {
		k, err := number(what, maxUnrolled, parameter)
		if err == nil {
			p.edit = plain(with(k))
		}
		return err
	}
}

// several returns the setter of a pass whose parameter names two things or more.
func several(what string, with func([]string) func(*ir.Graph) (*ir.Graph, error)) setter {
	return func(p *pass, parameter string) error {
		names := strings.Split(parameter, ":")
		if len(names) < 2 || slices.Contains(names, "") {
			return fmt.Errorf("two %s or more, with colons between them", what)
		}
		p.edit = plain(with(names))
		return nil
	}
}

// maxLimit is the largest limit of the time of a piece.
const maxLimit = time.Hour

// limited returns the setter of a pass whose parameter is a time.
func limited(set func(p *pass, limit model.Time)) setter {
	return func(p *pass, parameter string) error {
		d, err := time.ParseDuration(parameter)
		digits := strings.TrimRight(parameter, "nums") // the units are ns, us, ms and s
		if err != nil || d <= 0 || d > maxLimit || strings.Trim(digits, "0123456789") != "" || digits[0] == '0' {
			return errors.New("a time up to an hour, such as 500ns, 100us or 2ms")
		}
		set(p, model.Time(d)*model.Nanosecond)
		return nil
	}
}

// passNamed returns the pass for a text, with its parameter set.
func passNamed(text string) (pass, error) {
	name, parameter, err := splitName("pass", text)
	if err != nil {
		return pass{}, err
	}
	i := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
	if i < 0 {
		return pass{}, unknown("pass", name, Passes())
	}
	p := passes[i]
	switch {
	case p.takes == "" && parameter == nil:
		return p, nil
	case p.takes == "":
		return p, fmt.Errorf("pass %s takes no parameter: write %s", name, name)
	case parameter == nil || *parameter == "":
		return p, fmt.Errorf("pass %s lacks its parameter: write %s(%s)", name, name, p.takes)
	}
	p.parameter = *parameter
	if err := p.with(&p, p.parameter); err != nil {
		return p, fmt.Errorf("pass %s takes %w, not %q", name, err, p.parameter)
	}
	return p, nil
}
