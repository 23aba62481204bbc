package importer

import (
	"iter"
	"strings"
)

// field is a word of a line and where it starts.
type field struct {
	word string
	at   int
}

// lines yields the words of each line that is neither blank nor a comment.
func (t *text) lines(comments ...string) iter.Seq[[]field] {
	return func(yield func([]field) bool) {
		at := 0
		for line := range strings.Lines(t.src) {
			if fields := split(line, at, comments); len(fields) > 0 && !yield(fields) {
				return
			}
			at += len(line)
		}
	}
}

// split cuts a line that starts at an offset into its words, up to a comment.
func split(line string, at int, comments []string) []field {
	var fields []field
	for word := range strings.FieldsSeq(line) {
		for _, c := range comments {
			if strings.HasPrefix(word, c) {
				return fields
			}
		}
		i := strings.Index(line, word)
		fields = append(fields, field{word, at + i})
		line, at = line[i+len(word):], at+i+len(word)
	}
	return fields
}
