package optimizer

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// Description is the name of a pass or a strategy and a line about it.
type Description struct{ Name, Doc string }

// unknown is the error for a name that is not in a table: it lists those that
// are, and the one probably meant.
func unknown(kind, name string, known []Description) error {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.Name
	}
	hint := ""
	if nearest := ir.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return fmt.Errorf("unknown %s %q%s; there are %s", kind, name, hint, strings.Join(names, ", "))
}
