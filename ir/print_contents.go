package ir

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
)

const (
	maxInline   = 256 // elements that are printed as numbers; more are packed
	inlineLine  = 16  // numbers on a line
	packedLine  = 76  // characters on a line of packed data
	packedLevel = flate.BestCompression
)

// contents prints the block with the contents of buffers.
func (p *printer) contents(all []Contents) {
	p.text("contents {\n")
	for i := range all {
		c := &all[i]
		b := &p.g.Buffers[c.Buffer]
		p.text("  ")
		p.buffer(c.Buffer)
		p.text(" = ")
		switch {
		case c.fills():
			p.text("fill(")
			p.buf = c.Lo.appendValue(p.buf)
		case c.Data == nil:
			p.text(fmt.Sprintf("uniform(%d, ", c.Seed))
			p.buf = c.Lo.appendValue(p.buf)
			p.text(", ")
			p.buf = c.Hi.appendValue(p.buf)
		case inlined(b):
			p.text("values(")
			p.values(b, c.Data)
		default:
			p.text("packed(")
			p.quote(packedName(b))
		}
		p.text(")\n")
	}
	p.text("}\n")
}

// inlined reports whether the contents of a buffer are printed as numbers.
func inlined(b *Buffer) bool { return b.Len <= maxInline }

// values prints the elements of a buffer.
func (p *printer) values(b *Buffer, data []byte) {
	for i := range int(b.Len) {
		switch {
		case i > 0 && i%inlineLine == 0:
			p.text(",\n    ")
		case i > 0:
			p.text(", ")
		}
		p.buf = elementAt(b.Elem, data, i).appendValue(p.buf)
	}
}

// packedName is the name of the section with the packed contents of a buffer. Quotes keep it different from other names in
// the text, and from the files of modules unless one is called so.
func packedName(b *Buffer) string { return "@" + sectionName(b.Name) + "." + b.Elem.String() }

// sectionName returns a name without line ends, which a marker cannot hold.
func sectionName(name string) string {
	quoted := string(appendName(nil, name, true))
	if quoted == name {
		return name
	}
	return base64.RawURLEncoding.EncodeToString([]byte(name))
}

// pack returns data compressed, as lines of base64.
func pack(data []byte) []byte {
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, packedLevel)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("BUG: compression into memory failed: " + err.Error())
	}
	text := base64.StdEncoding.EncodeToString(small.Bytes())
	var lines []byte
	for len(text) > packedLine {
		lines = append(append(lines, text[:packedLine]...), '\n')
		text = text[packedLine:]
	}
	return append(append(lines, text...), '\n')
}
