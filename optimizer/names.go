package optimizer

import (
	"fmt"
	"strings"
)

// Description is the name of a pass or a strategy and a one-line explanation.
type Description struct {
	Name  string
	Takes string // the name of the parameter in parentheses, "" for none
	Doc   string
}

// Usage returns the name with its parameter, such as levels(k).
func (d Description) Usage() string {
	if d.Takes == "" {
		return d.Name
	}
	return d.Name + "(" + d.Takes + ")"
}

// unknown returns the error for a name that is not in a table. The error lists the names in the
// table and suggests the nearest one.
func unknown(kind, name string, known []Description) error {
	names, usages := make([]string, len(known)), make([]string, len(known))
	for i, k := range known {
		names[i], usages[i] = k.Name, k.Usage()
	}
	return fmt.Errorf("unknown %s %q%s; there are %s", kind, name, didYouMean(name, names), strings.Join(usages, ", "))
}
