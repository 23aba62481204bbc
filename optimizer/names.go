package optimizer

import (
	"fmt"
	"strings"
)

// Description is the name of a pass or a strategy and a line about it.
type Description struct {
	Name  string
	Takes string // what may follow the name of a strategy in parentheses, "" for nothing
	Doc   string
}

// Usage is the name with what it takes: levels(k).
func (d Description) Usage() string {
	if d.Takes == "" {
		return d.Name
	}
	return d.Name + "(" + d.Takes + ")"
}

// unknown is the error for a name that is not in a table: it lists those that
// are, and the one probably meant.
func unknown(kind, name string, known []Description) error {
	names, usages := make([]string, len(known)), make([]string, len(known))
	for i, k := range known {
		names[i], usages[i] = k.Name, k.Usage()
	}
	return fmt.Errorf("unknown %s %q%s; there are %s", kind, name, didYouMean(name, names), strings.Join(usages, ", "))
}
