package optimizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// A strategy is named by
//
//	strategy = name [ "(" parameter ")" ] .
//
// where the parameter is a number without sign or leading zeros, or a word. So a
// strategy has one spelling for each parameter, which is its name in a schedule.

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

// splitStrategy takes the text of a strategy apart.
func splitStrategy(text string) (name string, parameter *string, err error) {
	name, rest, open := strings.Cut(text, "(")
	if !open {
		return name, nil, nil
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed || strings.ContainsAny(inner, "()") {
		return "", nil, fmt.Errorf("strategy %q is not of the form name or name(parameter); in a shell, quote it", text)
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
		k, err := strconv.Atoi(parameter)
		if err != nil || k < 1 || k > maxLanes || strconv.Itoa(k) != parameter {
			return nil, fmt.Errorf("a number of lanes from 1 to %d", maxLanes)
		}
		return with(k), nil
	}
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
