package optimizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// A strategy or a pass is named by
//
//	text = name [ "(" parameter ")" ] .
//
// where the parameter is a number without sign or leading zeros, or words with colons
// between them. So a strategy has one spelling for each parameter, which is its name in a
// schedule.

// family is a strategy with its parameter open.
type family struct {
	name  string
	takes string // what the parameter is called, "" when there is none
	doc   string
	make  maker
}

// maker makes the strategy with a parameter, which is "" when none was given. An
// error says what the parameter may be.
type maker func(parameter string) (strategy, error)

// with is the strategy with the parameter of a name, nil for a bare one.
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

// splitName takes the text of a strategy or a pass apart.
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

// only is for a strategy without a parameter.
func only(s strategy) maker {
	return func(string) (strategy, error) { return s, nil }
}

// maxLanes is the most lanes that can be asked for. No GPU runs more than 128 kernels at
// once, so that anything near it is a slip.
const maxLanes = 1 << 16

// lanes is for a strategy whose parameter is a number of lanes.
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

// number is a parameter that says how many of something.
func number(what string, most int, parameter string) (int, error) {
	k, err := strconv.Atoi(parameter)
	if err != nil || k < 1 || k > most || strconv.Itoa(k) != parameter {
		return 0, fmt.Errorf("a number of %s from 1 to %d", what, most)
	}
	return k, nil
}

// word is one of the parameters of a strategy that has a few.
type word struct {
	word     string
	strategy strategy
}

// words is for a strategy whose parameter is one of a few words, by default the
// first.
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
		return nil, fmt.Errorf("%s%s", strings.Join(names, " or "), didYouMean(parameter, names))
	}
}

func didYouMean(wrong string, names []string) string {
	if nearest := ir.Nearest(wrong, names); nearest != "" {
		return fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return ""
}

// editor makes the edit of a pass with a parameter. An error says what that may be.
type editor func(parameter string) (func(*ir.Graph) (*ir.Graph, error), error)

// times is for a pass whose parameter says how many of something.
func times(what string, with func(int) func(*ir.Graph) (*ir.Graph, error)) editor {
	return func(parameter string) (func(*ir.Graph) (*ir.Graph, error), error) {
		k, err := number(what, maxUnrolled, parameter)
		if err != nil {
			return nil, err
		}
		return with(k), nil
	}
}

// several is for a pass whose parameter names two things or more.
func several(what string, with func([]string) func(*ir.Graph) (*ir.Graph, error)) editor {
	return func(parameter string) (func(*ir.Graph) (*ir.Graph, error), error) {
		names := strings.Split(parameter, ":")
		if len(names) < 2 || slices.Contains(names, "") {
			return nil, fmt.Errorf("two %s or more, with colons between them", what)
		}
		return with(names), nil
	}
}

// passNamed finds a pass and gives it its parameter.
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
	edit, err := p.with(p.parameter)
	if err != nil {
		return p, fmt.Errorf("pass %s takes %w, not %q", name, err, p.parameter)
	}
	p.edit = plain(edit)
	return p, nil
}
