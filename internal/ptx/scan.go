package ptx

import "strings"

// tokenKind is a punctuation character, or one of the classes below.
type tokenKind byte

// Kinds other than these are the characters themselves: '(' is the kind of an opening
// parenthesis.
const (
	tokEOF    tokenKind = 0
	tokWord   tokenKind = 'w' // identifier, register, opcode or directive, dots included
	tokNumber tokenKind = 'n'
	tokString tokenKind = 's' // text without the quotes
	tokBad    tokenKind = 'b' // a character that PTX does not use, or an unclosed string
)

// token is one lexical element. Its text is a slice of the source; pos is its first byte.
type token struct {
	kind tokenKind
	text string
	pos  Pos
}

// describe returns the token for an error message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokString:
		return "the string " + clip(t.text)
	default:
		return clip(t.text)
	}
}

// clip quotes text, shortened so that a message fits on one line.
func clip(text string) string {
	const maxBytes = 60
	if len(text) > maxBytes {
		text = text[:maxBytes] + "…"
	}
	return `"` + strings.ToValidUTF8(text, "?") + `"`
}

// charClass is the role of a byte as the first of a token.
type charClass uint8

// The classes of bytes.
const (
	classOther charClass = iota
	classSpace
	classWord
	classDigit
	classPunct
)

// charClasses counts '.' and '%' as parts of words. An opcode, a special
// register with its axis and a directive are therefore one token each.
var charClasses = func() (c [256]charClass) {
	set := func(chars string, class charClass) {
		for i := range len(chars) {
			c[chars[i]] = class
		}
	}
	set(" \t\r\n\v\f", classSpace)
	set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$%.", classWord)
	set("0123456789", classDigit)
	set(",;{}()[]<>=+-|!@:*~&^?/", classPunct)
	return c
}()

// scanner splits source text into tokens, whose texts are slices of the source. It does not
// allocate. src[off] is the next byte, and src[lineStart] is the first byte of its line.
//
//	@%p1 ld.global.f32 %f1, [%rd4+8]; // x
//	│└┬┘ └─────┬─────┘ └┬┘│ │└─┬┘│││
//	│word     word     word │ word ││└ ';'
//	'@'                  ','└'['  '+'└ number, ']'
type scanner struct {
	src       string
	off       int
	line      int
	lineStart int
	unclosed  Pos // the start of a comment without an end
}

// pos returns the position of the next byte.
func (s *scanner) pos() Pos { return Pos{s.line, s.off - s.lineStart + 1} }

// newline counts the line feed at byte at.
func (s *scanner) newline(at int) {
	s.line++
	s.lineStart = at + 1
}

// scan returns the next token. At the end of the text it returns tokEOF.
func (s *scanner) scan() token {
	s.skipBlank()
	pos, start := s.pos(), s.off
	if s.off >= len(s.src) {
		return token{tokEOF, "", pos}
	}
	c := s.src[s.off]
	class := charClasses[c]
	// A point before a digit starts a number; before a letter it starts a directive.
	if c == '.' && s.off+1 < len(s.src) && charClasses[s.src[s.off+1]] == classDigit { // .5
		class = classDigit
	}
	switch class {
	case classWord:
		if c == '.' {
			s.directive()
		} else {
			s.run()
		}
		return token{tokWord, s.src[start:s.off], pos}
	case classDigit:
		s.number()
		return token{tokNumber, s.src[start:s.off], pos}
	case classPunct:
		s.off++
		return token{tokenKind(c), s.src[start:s.off], pos}
	}
	if c == '"' {
		return s.str(pos)
	}
	s.off++
	return token{tokBad, s.src[start:s.off], pos}
}

// skipBlank skips white space and comments.
func (s *scanner) skipBlank() {
	for s.off < len(s.src) {
		switch c := s.src[s.off]; {
		case c == '\n':
			s.newline(s.off)
			s.off++
		case charClasses[c] == classSpace:
			s.off++
		case c == '/' && s.comment():
		default:
			return
		}
	}
}

// comment skips a comment and reports whether there was one. An unclosed
// comment extends to the end of the file.
func (s *scanner) comment() bool {
	rest := s.src[s.off:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			s.off += n
		} else {
			s.off = len(s.src)
		}
		return true
	case strings.HasPrefix(rest, "/*"):
		end := len(s.src)
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			end = s.off + n + 4
		} else {
			s.unclosed = s.pos()
		}
		for ; s.off < end; s.off++ {
			if s.src[s.off] == '\n' {
				s.newline(s.off)
			}
		}
		return true
	}
	return false
}

// directive scans one directive. Some sources have no space between directives,
// as in ".reg.b32" or ".param.u64.ptr".
func (s *scanner) directive() {
	s.off++
	start := s.off
	s.run()
	if n := strings.IndexByte(s.src[start:s.off], '.'); n > 0 {
		s.off = start + n
	}
}

// run skips the rest of a word: letters, digits, '_', '$', '%', '.' and "::".
func (s *scanner) run() {
	for s.off < len(s.src) {
		if class := charClasses[s.src[s.off]]; class == classWord || class == classDigit {
			s.off++
		} else if strings.HasPrefix(s.src[s.off:], "::") { // ld.shared::cta
			s.off += 2
		} else {
			return
		}
	}
}

// number scans a literal with its prefix and suffix. The only sign inside one
// is that of a decimal exponent.
func (s *scanner) number() {
	start := s.off
	s.run()
	text := s.src[start:s.off]
	// A directive or operator follows without a space.
	if n := numberEnd(text); n < len(text) {
		text = text[:n]
		s.off = start + n
	}
	last := text[len(text)-1]
	if (last != 'e' && last != 'E') || len(text) > 1 && strings.ContainsRune("xXfFdD", rune(text[1])) {
		return
	}
	if s.off < len(s.src) && (s.src[s.off] == '-' || s.src[s.off] == '+') {
		s.off++
		s.run()
	}
}

// numberEnd returns the length of a number that is followed without a space by
// the operator % or a directive, as in ".align 8.b8".
func numberEnd(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '%' || text[i] == '.' && directiveWord(text[i+1:]) {
			return i
		}
	}
	return len(text)
}

// directiveWord reports whether text starts like the name of a directive, and
// not like the exponent of "1.e5".
func directiveWord(text string) bool {
	return len(text) > 0 && charClasses[text[0]] == classWord && (text[0]|0x20 != 'e' || len(text) > 1 && charClasses[text[1]] == classWord)
}

// str scans a string. PTX has no escapes in strings.
func (s *scanner) str(pos Pos) token {
	start := s.off + 1
	n := strings.IndexAny(s.src[start:], "\"\n")
	switch {
	case n < 0:
		s.off = len(s.src)
		return token{tokBad, `"`, pos}
	// The string is not closed on its line. The scanner continues behind the quote.
	case s.src[start+n] == '\n':
		s.off++
		return token{tokBad, `"`, pos}
	}
	s.off = start + n + 1
	return token{tokString, s.src[start : start+n], pos}
}
