package ir

import "strconv"

// bareName reports whether s can stand in the text form without quotes. Dots
// are left out where a dot ends the name, which is after a module's.
func bareName(s string, dots bool) bool {
	for i := range len(s) {
		if !nameByte[s[i]] && !(dots && s[i] == '.') {
			return false
		}
	}
	return s != ""
}

// nameByte holds the bytes of names that need no quotes: those of a mangled
// C++ name, of PTX, and digits anywhere, since a sigil or the position tells
// names from numbers.
var nameByte = func() (set [256]bool) {
	for c := range set {
		lower := c | 0x20
		set[c] = 'a' <= lower && lower <= 'z' && c < 0x80 || '0' <= c && c <= '9' || c == '_' || c == '$'
	}
	return set
}()

func appendName(dst []byte, s string, dots bool) []byte {
	if bareName(s, dots) {
		return append(dst, s...)
	}
	return strconv.AppendQuote(dst, s)
}
