package importer

import (
	"fmt"
	"regexp"
	"strings"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenID
	tokenPunctuation
)

// token is a token of DOT. The text of an identifier is without quotes and escapes.
type token struct {
	kind   tokenKind
	quoted bool // an identifier that cannot be a keyword
	text   string
	at     int
}

// is reports whether the token is the keyword, in upper or lower case.
func (t token) is(keyword string) bool {
	return t.kind == tokenID && !t.quoted && strings.EqualFold(t.text, keyword)
}

// dotScanner splits a text into tokens. After an error it returns the end of the text.
type dotScanner struct {
	text   *text
	pos    int
	tok    token
	failed error
}

// keyword consumes the current token if it is the keyword.
func (s *dotScanner) keyword(word string) bool {
	if !s.tok.is(word) {
		return false
	}
	s.next()
	return true
}

// punctuation consumes the current token if it is the punctuation mark.
func (s *dotScanner) punctuation(mark string) bool {
	if s.tok.kind != tokenPunctuation || s.tok.text != mark {
		return false
	}
	s.next()
	return true
}

// unexpected returns an error about the current token. want describes what was expected.
func (s *dotScanner) unexpected(want string) error {
	got := fmt.Sprintf("%q", s.tok.text)
	if s.tok.kind == tokenEnd {
		got = "the end of the text"
	}
	return s.text.errorf(s.tok.at, "%s instead of %s", got, want)
}

func (s *dotScanner) fail(at int, format string, args ...any) {
	if s.failed == nil {
		s.failed = s.text.errorf(at, format, args...)
	}
	s.pos = len(s.text.src)
}

// next reads a token.
func (s *dotScanner) next() {
	s.blanks()
	s.tok = token{at: s.pos}
	if s.pos == len(s.text.src) {
		return
	}
	rest := s.text.src[s.pos:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "->"):
		s.take(tokenPunctuation, 2)
	case strings.HasPrefix(rest, "--"):
		s.fail(s.pos, "an edge of a digraph is written ->")
	case strings.IndexByte("{}[]=;,:", c) >= 0:
		s.take(tokenPunctuation, 1)
	case c == '"':
		s.quotes()
	case c == '<':
		s.html()
	default:
		s.word(rest)
	}
}

func (s *dotScanner) take(kind tokenKind, n int) {
	s.tok.kind, s.tok.text = kind, s.text.src[s.pos:s.pos+n]
	s.pos += n
}

// blanks skips white space and comments. Lines that start with #, the output of a C
// preprocessor, are comments.
func (s *dotScanner) blanks() {
	src := s.text.src
	for s.pos < len(src) {
		rest := src[s.pos:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.pos++
		case strings.HasPrefix(rest, "//"), c == '#' && (s.pos == 0 || src[s.pos-1] == '\n'):
			s.pos += len(rest)
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				s.pos += i - len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				s.fail(s.pos, "the comment has no end")
				return
			}
			s.pos += i + 4
		default:
			return
		}
	}
}

// quotes reads a string and the strings that + joins to it. A backslash escapes a quote, and removes the end of a
// line.
func (s *dotScanner) quotes() {
	s.tok.kind, s.tok.quoted = tokenID, true
	var b strings.Builder
	for {
		s.quoted(&b)
		end := s.pos
		s.blanks()
		if !strings.HasPrefix(s.text.src[s.pos:], "+") {
			if s.failed == nil {
				s.pos = end
			}
			break
		}
		s.pos++
		s.blanks()
		if !strings.HasPrefix(s.text.src[s.pos:], `"`) {
			s.fail(s.pos, "+ joins two strings in quotes")
			break
		}
	}
	s.tok.text = b.String()
}

// quoted reads one string.
func (s *dotScanner) quoted(b *strings.Builder) {
	start, src := s.pos, s.text.src
	for i := start + 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			s.pos = i + 1
			return
		case c == '\\' && strings.HasPrefix(src[i+1:], `"`):
			b.WriteByte('"')
			i++
		case c == '\\' && strings.HasPrefix(src[i+1:], "\n"):
			i++
		case c == '\\' && i+1 < len(src):
			b.WriteString(src[i : i+2])
			i++
		default:
			b.WriteByte(c)
		}
	}
	s.fail(start, "the string has no end")
}

// html reads text in balanced angle brackets.
func (s *dotScanner) html() {
	depth, src := 0, s.text.src
	for i := s.pos; i < len(src); i++ {
		switch src[i] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			s.tok.quoted = true
			s.take(tokenID, i+1-s.pos)
			return
		}
	}
	s.fail(s.pos, "the text in angle brackets has no end")
}

// numeral matches a number without quotes, by the definition of the language.
var numeral = regexp.MustCompile(`^-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)`)

// word reads a name or a number. DOT ends a number at the first byte that cannot continue it, so that 2e3 would be the
// number 2 and the name e3, which no author intends. A word directly followed by another word is therefore an error.
func (s *dotScanner) word(rest string) {
	n := len(numeral.FindString(rest))
	if n == 0 {
		for n < len(rest) && wordByte(rest[n]) {
			n++
		}
	}
	switch all := len(glued.FindString(rest[n:])); {
	case n == 0:
		s.fail(s.pos, "%q has no meaning here: put the name in quotes", rest[:1])
	case all > 0:
		s.fail(s.pos, "%q is not one word, as DOT ends it after %q: put it in quotes", rest[:n+all], rest[:n])
	default:
		s.take(tokenID, n)
	}
}

// glued matches another word that directly follows a word.
var glued = regexp.MustCompile(`^([.]|-[.0-9]|[\w\x80-\x{10ffff}])(-[.0-9]|[.\w\x80-\x{10ffff}])*`)

// wordByte reports whether a byte may be part of a name, in any encoding.
func wordByte(c byte) bool {
	lower := c | 0x20
	return 'a' <= lower && lower <= 'z' || numberByte(c) || c == '_' || c >= 0x80
}

func numberByte(c byte) bool { return '0' <= c && c <= '9' }
