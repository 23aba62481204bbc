package fatbin

import "errors"

var errLZ4 = errors.New("the compressed data are corrupt")

// expand expands an LZ4 block to size bytes. A block is a list of sequences. A
// sequence starts with a token, whose halves are the lengths of a run of literal
// bytes and of a match with earlier output. The rest of the first length follows if
// it does not fit in the token, then the literals, the distance to the match (two
// bytes), and the rest of the second length. The last sequence ends after its
// literals. The cost is linear in the size of the output. See
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md.
func expand(src []byte, size int) ([]byte, error) {
	const minMatch = 4
	dst := make([]byte, 0, min(size, 256*len(src))) // a byte of input gives at most 255 bytes of output
	for len(src) > 0 {
		token := src[0]
		literals, rest, ok := length(int(token>>4), src[1:])
		if !ok || literals > len(rest) || literals > size-len(dst) {
			return nil, errLZ4
		}
		dst = append(dst, rest[:literals]...)
		if src = rest[literals:]; len(src) == 0 {
			break
		}
		if len(src) < 2 {
			return nil, errLZ4
		}
		back := int(src[0]) | int(src[1])<<8
		match, rest, ok := length(int(token&15), src[2:])
		match += minMatch
		if !ok || back == 0 || back > len(dst) || match > size-len(dst) {
			return nil, errLZ4
		}
		for range match { // byte by byte, since a match may overlap its own output
			dst = append(dst, dst[len(dst)-back])
		}
		src = rest
	}
	if len(dst) != size {
		return nil, errLZ4
	}
	return dst, nil
}

// length completes a length n from a token. 15 continues with bytes that are added,
// up to the first that is not 255.
func length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, b := range src {
		n += int(b)
		if b != 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}
