package ir

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// ErrMissing is in the chain of errors about an argument that is nil or zero and must not be, of all packages but those of
// devices, whose errors are a *device.Error.
var ErrMissing = absent.Err

// ErrOtherTrace is in the chain of errors that say that a graph was not made from a trace.
var ErrOtherTrace = errors.New("the plan is of another trace")

// Error is a mistake in a text, at a line and a column (a byte of the line),
// both counted from 1. Line is 0 when the error is about no single place.
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

// visible puts a ? for every byte of a control character or of broken UTF-8: a
// binary file must not steer the terminal, and columns stay true.
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

// windowBytes is about how much of a long line an error shows.
const windowBytes = 100

// window cuts a long line around byte col and returns the place of col in what
// it keeps.
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

// indent is white space as wide as s: tabs stay, since only the terminal knows
// their width.
func indent(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// mistakes are those of one text, by position.
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
