package optimizer

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// Description is the name of a pass or a strategy and a one-line explanation.
type Description struct {
	Name  string
	Takes string // the name of the parameter in parentheses, "" for none
	Usage string // the name with its parameter, such as levels(k)
	Doc   string
}

func describe(name, takes, doc string) Description {
	usage := name
	if takes != "" {
		usage += "(" + takes + ")"
	}
	return Description{name, takes, usage, doc}
}

// unknown returns the error for a name that is not in a table. The error lists the names in the
// table and suggests the nearest one.
func unknown(kind, name string, known []Description) error {
	names, usages := make([]string, len(known)), make([]string, len(known))
	for i, k := range known {
		names[i], usages[i] = k.Name, k.Usage
	}
	return sentinel.Errorf(sentinel.ErrUnknown, "unknown %s %q%s; there are %s", kind, name, phrase.DidYouMean(name, names), strings.Join(usages, ", "))
}
