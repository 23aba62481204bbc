package ir

import "strconv"

// bareName reports whether s needs no quotes in the text form. dots allows dots in the name; the name of a
// module has none, because a dot separates it from the kernel.
func bareName(s string, dots bool) bool {
	for i := range len(s) {
		if !nameByte[s[i]] && !(dots && s[i] == '.') {
			return false
		}
	}
	return s != ""
}

// nameByte is the set of bytes that need no quotes in a name: those of identifiers of PTX and of mangled C++
// names. A digit may come first, since a sigil or the position distinguishes names from numbers.
var nameByte = func() (set [256]bool) {
	for c := range set {
		lower := c | 0x20
		set[c] = 'a' <= lower && lower <= 'z' && c < 0x80 || '0' <= c && c <= '9' || c == '_' || c == '$'
	}
	return set
}()

// appendName appends a name in the text form, with quotes if it needs them.
func appendName(dst []byte, s string, dots bool) []byte {
	if bareName(s, dots) {
		return append(dst, s...)
	}
	return strconv.AppendQuote(dst, s)
}
