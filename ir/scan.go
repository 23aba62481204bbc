package ir

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

// scanner reads the words of a text. After the first mistake in a statement it is in the failed state, in
// which it reads and reports nothing until recover. So the parser needs no error paths.
type scanner struct {
	src    string
	pos    int
	depth  int // number of open parentheses and brackets; a line end inside is a blank
	failed bool
	errs   []mistake
	strs   map[string]string // by text: its copy (see intern)
}

// mistake is an error before its offset becomes a line and a column.
type mistake struct {
	pos int
	msg string
}

// maxErrors is the number of mistakes after which the parser stops.
const maxErrors = 10

// fail reports a mistake at byte pos unless the statement has failed before.
func (s *scanner) fail(pos int, format string, args ...any) {
	if s.failed {
		return
	}
	s.failed = true
	s.errs = append(s.errs, mistake{pos, fmt.Sprintf(format, args...)})
}

// recover ends a failed statement: it moves to the end of the line, or to the end of the text after maxErrors
// mistakes.
func (s *scanner) recover() {
	s.failed, s.depth = false, 0
	if len(s.errs) >= maxErrors {
		s.pos = len(s.src)
		return
	}
	s.skipLine()
}

func (s *scanner) skipLine() {
	if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.pos += i
		return
	}
	s.pos = len(s.src)
}

// peek returns the next byte that is no blank. It returns 0 at the end of the text and in the failed state.
func (s *scanner) peek() byte {
	s.skip()
	if s.failed || s.pos >= len(s.src) {
		return 0
	}
	return s.src[s.pos]
}

// skip moves past blanks and comments.
func (s *scanner) skip() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && s.depth > 0:
			s.pos++
		case c == '#' || c == '/' && strings.HasPrefix(s.src[s.pos:], "//"):
			s.skipLine()
		default:
			return
		}
	}
}

// blankLines skips empty lines, up to the next statement.
func (s *scanner) blankLines() {
	for s.peek() == '\n' {
		s.pos++
	}
}

// accept reads c if it comes next, and reports whether it does.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// expect reads c. Anything else is a mistake.
func (s *scanner) expect(c byte) {
	if !s.accept(c) {
		s.fail(s.pos, "expected %q, found %s", string(c), s.found())
	}
}

// open reads an opening parenthesis or bracket. Line ends are blanks until close.
func (s *scanner) open(c byte) {
	s.expect(c)
	s.depth++
}

func (s *scanner) close(c byte) {
	s.expect(c)
	s.depth--
}

// list reads elements between parentheses, separated by commas.
func (s *scanner) list(element func()) {
	s.open('(')
	for s.peek() != ')' && !s.failed {
		element()
		if !s.accept(',') {
			break
		}
	}
	s.close(')')
}

// found describes the text at pos, for the message "expected this, found that".
func (s *scanner) found() string {
	s.skip()
	rest := s.src[s.pos:]
	if rest == "" {
		return "the end of the text"
	}
	if rest[0] == '\n' {
		return "the end of the line"
	}
	n := 0
	for n < len(rest) && nameByte[rest[n]] {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(rest)
	}
	return strconv.Quote(rest[:min(n, 40)])
}

// run reads the longest run of bytes in the set.
func (s *scanner) run(set *[256]bool) string {
	if s.failed {
		return ""
	}
	start := s.pos
	for s.pos < len(s.src) && set[s.src[s.pos]] {
		s.pos++
	}
	return s.src[start:s.pos]
}

// word reads a keyword. It returns "" if there is none.
func (s *scanner) word() string {
	s.skip()
	return s.run(&nameByte)
}

// choose reads one of the words and returns its index. what describes the words in an error, with an article.
func (s *scanner) choose(what string, words []string) int {
	s.skip()
	at := s.pos
	w := s.word()
	for i := range words {
		if words[i] == w {
			return i
		}
	}
	if w == "" {
		s.fail(at, "expected %s, found %s", what, s.found())
	} else {
		s.fail(at, "%q is not %s%s", w, what, didYouMean(w, words, ""))
	}
	return 0
}

var (
	dottedBytes = with(nameByte, ".")
	valueBytes  = with(nameByte, ".+-")
	digitBytes  = with([256]bool{}, "0123456789")
)

func with(set [256]bool, more string) [256]bool {
	for i := range len(more) {
		set[more[i]] = true
	}
	return set
}

// name reads a name, bare or quoted. set is nameByte or dottedBytes.
func (s *scanner) name(what string, set *[256]bool) string {
	if s.pos < len(s.src) && s.src[s.pos] == '"' {
		return s.quoted()
	}
	at := s.pos
	n := s.run(set)
	if n == "" {
		s.fail(at, "expected %s, found %s", what, s.found())
	}
	return s.intern(n)
}

// quoted reads a string in Go's syntax for double quotes.
func (s *scanner) quoted() string {
	if s.peek() != '"' {
		s.fail(s.pos, "expected a string in quotes, found %s", s.found())
		return ""
	}
	end := s.pos + 1
	for end < len(s.src) && s.src[end] != '"' && s.src[end] != '\n' {
		if s.src[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s.src) || s.src[end] == '\n' {
		s.fail(s.pos, "the string is not closed: add a double quote")
		return ""
	}
	text := s.src[s.pos : end+1]
	str, err := strconv.Unquote(text)
	if err != nil {
		s.fail(s.pos, "the string holds an unknown escape: Go's escapes are understood")
		return ""
	}
	s.pos = end + 1
	return s.intern(str)
}

// didYouMean returns the clause "; did you mean x?" for the word most similar to wrong, or "" if none is.
func didYouMean(wrong string, words []string, sigil string) string {
	if best := phrase.Nearest(wrong, words); best != "" {
		return "; did you mean " + sigil + best + "?"
	}
	return ""
}

// integer reads a decimal integer of the given width.
func (s *scanner) integer(bits int) int64 {
	s.skip()
	at := s.pos
	if s.pos < len(s.src) && s.src[s.pos] == '-' {
		s.pos++
	}
	s.run(&digitBytes)
	text := s.src[at:s.pos]
	i, err := strconv.ParseInt(text, 10, bits)
	switch {
	case s.failed:
	case text == "" || text == "-":
		s.fail(at, "expected a number, found %s", s.found())
	case err != nil:
		s.fail(at, "%s does not fit in %d bits", text, bits)
	}
	return i
}

// natural reads an unsigned decimal integer of the given width.
func (s *scanner) natural(bits int) uint64 {
	s.skip()
	at := s.pos
	text := s.run(&digitBytes)
	u, err := strconv.ParseUint(text, 10, bits)
	switch {
	case text == "":
		s.fail(at, "expected a number without sign, found %s", s.found())
	case err != nil:
		s.fail(at, "%s does not fit in %d bits", text, bits)
	}
	return u
}

// intern returns the one copy of a string. So the graph neither repeats names nor keeps the whole text alive,
// which a substring of it would.
func (s *scanner) intern(str string) string {
	if one, ok := s.strs[str]; ok {
		return one
	}
	if s.strs == nil {
		s.strs = make(map[string]string)
	}
	one := strings.Clone(str)
	s.strs[one] = one
	return one
}
