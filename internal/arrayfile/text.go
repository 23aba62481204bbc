package arrayfile

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"

	"github.com/reprise-gpu/reprise/ir"
)

// decodeText reads numbers in the syntax of .rir files: decimals, inf, or bits in hexadecimal.
func decodeText(t ir.Type, file []byte) ([]byte, error) {
	data := []byte{}
	line := 1
	text := string(file)
	for len(text) > 0 {
		r := rune(text[0])
		if r == ',' || unicode.IsSpace(r) {
			if r == '\n' {
				line++
			}
			text = text[1:]
			continue
		}
		end := 0
		for end < len(text) && text[end] != ',' && !unicode.IsSpace(rune(text[end])) {
			end++
		}
		s, err := ir.ParseScalar(t, text[:end])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		data = binary.LittleEndian.AppendUint64(data, s.Bits)[:len(data)+int(t.Size())]
		text = text[end:]
	}
	return data, nil
}

// encodeText returns a line for each element.
func encodeText(t ir.Type, data []byte) (text []byte) {
	size := int(t.Size())
	for i := 0; i+size <= len(data); i += size {
		var word [8]byte
		copy(word[:], data[i:i+size])
		_, value, _ := strings.Cut(ir.Scalar{Type: t, Bits: binary.LittleEndian.Uint64(word[:])}.String(), "=")
		text = append(append(text, value...), '\n')
	}
	return text
}
