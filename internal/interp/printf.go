package interp

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// print keeps text until the launch has ended.
func (e *engine) print(text string) {
	if out := e.launch.Stdout; out != nil {
		e.printed.add(e.linearBlock(), text, out.Room())
	}
}

// specification is a conversion specification of printf, after C11 7.21.6.1:
//
//	% flags width .precision length verb         %-8.3f   %lld   %*s
type specification struct {
	flags     string
	width     int
	precision int  // -1 if absent
	wide      bool // the argument has 64 bits
	bits      int  // the value's, for h and hh
	verb      byte
}

// maxField bounds a width or precision that a kernel passes, and the length of a
// string. Package fmt accepts no larger width, and the driver's buffer is hardly
// larger.
const maxField = 1_000_000

// printf formats like the function of C. next returns the next argument, of 4 or 8 bytes;
// text returns the string at an address. The results are the text and the number of
// arguments. Numbers are formatted by package fmt, whose verbs and flags agree with C's
// apart from the cases in specification's methods.
func printf(format string, next func(size int) uint64, text func(addr uint64) string) (s string, args int) {
	var b strings.Builder
	take := func(size int) uint64 {
		args++
		return next(size)
	}
	for {
		plain, rest, found := strings.Cut(format, "%")
		b.WriteString(plain)
		if !found {
			return b.String(), args
		}
		spec, n := specify(rest, func() int { return int(int32(take(4))) })
		if n == 0 { // not a conversion: undefined in C; the driver prints it
			b.WriteByte('%')
			format = rest
			continue
		}
		format = rest[n:]
		b.WriteString(spec.format(take, text))
	}
}

// specify parses a conversion specification from behind its '%'. It returns its length, 0
// if it is malformed. star returns a width or precision given as '*'. A negative width
// means alignment to the left, and a negative precision none, as in C.
func specify(s string, star func() int) (c specification, n int) {
	c.precision, c.bits = -1, 32
	for n < len(s) && strings.IndexByte("-+ #0", s[n]) >= 0 {
		c.flags += s[n : n+1]
		n++
	}
	number := func() (v int) {
		if n < len(s) && s[n] == '*' {
			n++
			return min(max(star(), -maxField), maxField)
		}
		for ; n < len(s) && s[n] >= '0' && s[n] <= '9' && v < 1<<16; n++ {
			v = 10*v + int(s[n]-'0')
		}
		return v
	}
	if c.width = number(); c.width < 0 {
		c.flags, c.width = c.flags+"-", -c.width
	}
	if n < len(s) && s[n] == '.' {
		n++
		c.precision = max(number(), -1)
	}
	for ; n < len(s) && strings.IndexByte("hlLqjzt", s[n]) >= 0; n++ {
		if s[n] == 'h' {
			c.bits /= 2
		} else {
			c.wide, c.bits = true, 64
		}
	}
	if n == len(s) || strings.IndexByte("diouxXcspfFeEgGaA%", s[n]) < 0 {
		return c, 0
	}
	c.verb = s[n]
	return c, n + 1
}

// size returns the bytes of an integer argument.
func (c *specification) size() int {
	if c.wide {
		return 8
	}
	return 4
}

// format returns the text of one conversion.
func (c *specification) format(take func(size int) uint64, text func(addr uint64) string) string {
	switch c.verb {
	case '%':
		return "%"
	// Arguments of h and hh are passed as int and cut to the short type.
	case 'd', 'i':
		shift := 64 - c.bits
		return c.with('d', int64(take(c.size()))<<shift>>shift)
	case 'o', 'u', 'x', 'X':
		shift := 64 - c.bits
		return c.unsigned(take(c.size()) << shift >> shift)
	case 'c':
		return c.padded(string([]byte{byte(take(4))}))
	case 's':
		s := text(take(8))
		if c.precision >= 0 && len(s) > c.precision {
			s = s[:c.precision]
		}
		return c.padded(s)
	case 'p':
		if v := take(8); v != 0 {
			return c.padded("0x" + strconv.FormatUint(v, 16))
		}
		return c.padded("(nil)")
	}
	return c.float(math.Float64frombits(take(8)))
}

// with formats v by package fmt, whose flags have the same meaning for numbers.
func (c *specification) with(verb byte, v any) string {
	f := "%" + c.flags
	if c.width > 0 {
		f += strconv.Itoa(c.width)
	}
	if c.precision >= 0 {
		f += "." + strconv.Itoa(c.precision)
	}
	return fmt.Sprintf(f+string(verb), v)
}

// unsigned formats an unsigned integer, for which C ignores the flags of signs.
func (c *specification) unsigned(v uint64) string {
	verb := c.verb
	plain := *c
	plain.flags = strings.NewReplacer("+", "", " ", "").Replace(c.flags)
	if verb == 'u' {
		verb = 'd'
	}
	// C writes no prefix for a zero.
	if v == 0 && verb != 'o' {
		plain.flags = strings.ReplaceAll(plain.flags, "#", "")
	}
	return plain.with(verb, v)
}

// float formats a floating-point number as C does: with six digits by default.
func (c *specification) float(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return c.special(v)
	}
	p := *c
	if c.verb == 'a' || c.verb == 'A' {
		s := p.with('x'+c.verb-'a', v) // Go writes at least two digits of the exponent
		if i := strings.LastIndexAny(s, "pP"); i >= 0 && i+3 < len(s) && s[i+2] == '0' {
			s = s[:i+2] + s[i+3:]
		}
		return s
	}
	if p.precision < 0 {
		p.precision = 6
	}
	if p.precision == 0 && (c.verb == 'g' || c.verb == 'G') {
		p.precision = 1
	}
	return p.with(c.verb, v)
}

// special formats infinities and NaN, which are not padded with zeros.
func (c *specification) special(v float64) string {
	s := "nan"
	if math.IsInf(v, 0) {
		s = "inf"
	}
	switch {
	case math.Signbit(v):
		s = "-" + s
	case strings.Contains(c.flags, "+"):
		s = "+" + s
	case strings.Contains(c.flags, " "):
		s = " " + s
	}
	if c.verb < 'a' {
		s = strings.ToUpper(s)
	}
	return c.padded(s)
}

// padded pads s with blanks to the width.
func (c *specification) padded(s string) string {
	fill := strings.Repeat(" ", max(0, c.width-len(s)))
	if strings.Contains(c.flags, "-") {
		return s + fill
	}
	return fill + s
}

// text returns the C string at a generic address, for output, or "?" if there is none. It
// ends at the first zero byte, at the end of the memory, or after maxField bytes.
func (w *warp) text(addr uint64, lane int) string {
	var s []byte
	switch {
	case addr == 0:
		return "(null)"
	case addr-sharedWindow < w.sharedSize:
		s = unsafe.Slice((*byte)(w.shared), w.sharedSize)[addr-sharedWindow:]
	case addr-localWindow < uint64(w.localStride):
		s = w.localBytes(lane, addr-localWindow, param{0, w.localStride - int(addr-localWindow)})
	default:
		a := w.eng.mem.find(addr, 1)
		if a == nil {
			return "?"
		}
		s = a.bytes()[addr-a.base:]
	}
	s = s[:min(len(s), maxField)]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return string(s)
}
