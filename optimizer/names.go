package optimizer

import (
	"fmt"
	"strings"
)

// Description is the name of a pass or a strategy and a line about it.
type Description struct{ Name, Doc string }

// unknown is the error for a name that is not in a table: it lists those that
// are, the likeliest first meant.
func unknown(kind, name string, known []Description) error {
	names := make([]string, len(known))
	nearest, least := "", len(name)/2+1 // farther than half the word is no guess
	for i, k := range known {
		names[i] = k.Name
		if d := editDistance(name, k.Name); d < least {
			nearest, least = k.Name, d
		}
	}
	hint := ""
	if nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return fmt.Errorf("unknown %s %q%s; there are %s", kind, name, hint, strings.Join(names, ", "))
}

// editDistance is the number of bytes to insert, delete or replace to turn a
// into b (Levenshtein), in one row of the usual table.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
