package importer

import (
	"iter"
	"strings"
)

// field is a word of a line and its offset in the text.
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

// split returns the words of a line up to a comment. at is the offset of the line in the text.
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
