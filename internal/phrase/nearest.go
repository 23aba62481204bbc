// Package phrase makes parts of error messages.
package phrase

import "fmt"

// Nearest returns the first of the words with the fewest edits to a misspelt one. It is "" if each needs more edits than
// a third of the letters of wrong.
func Nearest(wrong string, words []string) string {
	best, dist := "", 1+len(wrong)/3
	for _, w := range words {
		if d := editDistance(wrong, w, dist); d <= dist && (best == "" || d < dist) {
			best, dist = w, d
		}
	}
	if len(wrong) < 2 {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of neighbours (optimal string alignment) that turn
// a into b, in three rows of the table. Above the limit, the result is only known to be larger than the limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			diff := 1
			if a[i-1] == b[j-1] {
				diff = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+diff)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

// DidYouMean returns the clause that suggests the word most similar to a misspelt one: ` (did you mean "img"?)`. It is "" if no
// word is similar.
func DidYouMean(wrong string, words []string) string {
	if nearest := Nearest(wrong, words); nearest != "" {
		return fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return ""
}
