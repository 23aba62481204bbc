package ir

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// ErrMissing is in the chain of errors about a required argument that is nil or zero. Packages of devices
// return a *device.Error instead.
var ErrMissing = absent.Err

// ErrOtherTrace is in the chain of errors about a graph that was made from another trace than the one it is
// used with.
var ErrOtherTrace = sentinel.ErrOtherTrace

// Error is a mistake in a text. Line and Col count from 1; Col counts bytes. Line is 0 if the mistake has no
// single place.
type Error struct {
	File   string
	Line   int
	Col    int
	Msg    string
	Source string // the line
}

// Error renders the message above the source line with a caret under Col.
func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
	}
	msg := e.Msg
	if where != "" {
		msg = where + ": " + msg
	}
	if e.Line == 0 {
		return msg
	}
	line, col := window(visible(e.Source), e.Col-1)
	return msg + "\n    " + line + "\n    " + indent(line[:col]) + "^"
}

// visible replaces every byte of a control character or of invalid UTF-8 by a question mark, so that a
// binary file sends no control sequences to the terminal. The line keeps its length, and so Col is right.
func visible(line string) string {
	b := []byte(line)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' {
			copy(b[i:i+size], "????")
		}
		i += size
	}
	return string(b)
}

// windowBytes is about the length of the part of a long line that an error shows, in bytes.
const windowBytes = 100

// window returns the part of a long line around byte col, and the place of col in that part. It cuts
// between characters.
func window(line string, col int) (string, int) {
	col = min(col, len(line))
	lo, hi := max(0, col-windowBytes/2), min(len(line), col+windowBytes/2)
	if len(line) <= windowBytes {
		lo, hi = 0, len(line)
	}
	for lo > 0 && !utf8.RuneStart(line[lo]) {
		lo--
	}
	for hi < len(line) && !utf8.RuneStart(line[hi]) {
		hi++
	}
	before, after := "", ""
	if lo > 0 {
		before = "…"
	}
	if hi < len(line) {
		after = "…"
	}
	return before + line[lo:hi] + after, len(before) + col - lo
}

// indent returns white space as wide as s on a terminal. It keeps tabs, whose width depends on the terminal.
func indent(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// mistakes is the list of mistakes in one text, by position.
type mistakes []*Error

func (e mistakes) Error() string {
	msgs := make([]string, len(e))
	for i, one := range e {
		msgs[i] = one.Error()
	}
	return strings.Join(msgs, "\n")
}

// Unwrap returns all mistakes: errors.As finds the first *Error.
func (e mistakes) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}
