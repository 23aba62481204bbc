package ir

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
)

// formatVersion is the version of the text form that Format writes. Files without a header are of version 1, which has no
// contents.
const formatVersion = 2

// header reads rir 2 "reprise 0.1.0", whose first word is at offset at.
func (p *parser) header(at int) {
	if p.tool != "" || p.g != nil {
		p.fail(at, "the version of the format is given once, at the start of the file")
	}
	p.skip()
	number := p.pos
	version := p.natural(31)
	tool := p.quoted()
	switch {
	case p.failed:
	case version > formatVersion:
		p.fail(number, "the file has format %d, written by %s, and this program reads formats up to %d: use that program, or a newer release of this one", version, tool, formatVersion)
		p.errs = p.errs[len(p.errs)-1:]
		p.pos, p.failed = len(p.src), false // what follows may have another grammar
	case version == 0:
		p.fail(number, "there is no format 0: formats are numbered from 1")
	case tool == "":
		p.fail(number, "the name of the program that wrote the file is empty")
	}
	p.tool = tool
}

// generators are the words for contents.
var generators = []string{"fill", "uniform", "values", "packed"}

// packed is contents whose section has not been read yet.
type packed struct {
	contents int // index in parser.contents
	section  string
	pos      int
}

// contentsBlock reads contents { ... }, whose first word is at offset at.
func (p *parser) contentsBlock(at int) {
	if p.g == nil {
		p.fail(at, "contents before the graph: write graph name { ... } first")
		p.pos = len(p.src)
		return
	}
	if p.hasContents {
		p.fail(at, "a second block of contents: a file has one")
		p.pos = len(p.src)
		return
	}
	p.hasContents = true
	p.block(p.contentsLine)
}

// contentsLine reads @x = fill(0), @x = uniform(7, 0, 1), @x = values(1, 2) or @x = packed("section").
func (p *parser) contentsLine() {
	p.sigil(&p.buffers)
	at := p.pos
	id := BufferID(p.refer(&p.buffers, &dottedBytes))
	if p.failed {
		return
	}
	b := &p.g.Buffers[id]
	switch n := len(p.contents); {
	case !b.Role.startsDefined():
		p.fail(at, "@%s has role %v, whose contents are undefined before a replay: give contents to input, inout and constant buffers only", b.Name, b.Role)
	case n > 0 && p.contents[n-1].Buffer >= id:
		p.fail(at, "@%s is out of turn: contents are listed once for each buffer, in the order of the buffers", b.Name)
	}
	p.expect('=')
	c := Contents{Buffer: id}
	switch p.choose("a kind of contents", generators) {
	case 0:
		p.open('(')
		c.Lo = p.value(b.Elem)
		c.Hi = c.Lo
	case 1:
		p.uniform(b, &c)
	case 2:
		p.open('(')
		c.Data = p.values(b)
	case 3:
		p.open('(')
		p.skip()
		p.packed = append(p.packed, packed{len(p.contents), "", p.pos})
		p.packed[len(p.packed)-1].section = p.quoted()
	}
	p.close(')')
	if !p.failed {
		p.contents = append(p.contents, c)
	}
}

// uniform reads the arguments of uniform(7, 0, 1): the seed and the bounds.
func (p *parser) uniform(b *Buffer, c *Contents) {
	p.open('(')
	c.Seed = p.natural(64)
	p.expect(',')
	p.skip()
	at := p.pos
	c.Lo = p.value(b.Elem)
	p.expect(',')
	c.Hi = p.value(b.Elem)
	if !p.failed && !c.Lo.less(c.Hi) {
		p.fail(at, "the bounds of uniform are finite, and the first is less than the second")
	}
}

// values reads the elements of a buffer, up to the closing parenthesis.
func (p *parser) values(b *Buffer) []byte {
	p.skip()
	at := p.pos
	data := []byte{}
	n := int64(0)
	for p.peek() != ')' && !p.failed {
		data = binary.LittleEndian.AppendUint64(data, p.value(b.Elem).Bits)[:len(data)+int(b.Elem.Size())]
		n++
		if !p.accept(',') {
			break
		}
	}
	if n != b.Len {
		p.fail(at, "%d values for @%s, which has %d elements", n, b.Name, b.Len)
	}
	return data
}

// maxPacked bounds packed contents, in bytes, since a small section may expand to any size.
const maxPacked = 1 << 30

// unpack sets the contents that are packed in a section, and reports whether there are any.
func (p *parser) unpack(sec section, line int) (used bool) {
	for i := range p.packed {
		k := &p.packed[i]
		if k.section != sec.Name {
			continue
		}
		c := &p.contents[k.contents]
		if c.Data != nil {
			p.report(line, "section %q appears twice", sec.Name)
			return true
		}
		b := &p.g.Buffers[c.Buffer]
		data, err := unpack(sec.Data, b.Size())
		if err != nil {
			p.report(line, "section %q is not the contents of @%s: %v", sec.Name, b.Name, err)
			data = []byte{}
		}
		c.Data, used = data, true
	}
	return used
}

// unpack is the inverse of pack for data of the given size.
func unpack(lines []byte, size int64) ([]byte, error) {
	if size > maxPacked {
		return nil, fmt.Errorf("the buffer has %d bytes, and at most %d can be packed: use fill or uniform", size, maxPacked)
	}
	small := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(lines)) // ignores line ends
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(small), size+1))
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("it does not have %d bytes", size)
	}
	return data, err
}

// finishContents reports packed contents without a section, and turns data of equal elements into fills, which is how they
// print.
func (p *parser) finishContents() {
	for _, k := range p.packed {
		if p.contents[k.contents].Data == nil {
			p.report(k.pos, "the file has no section %q", k.section)
		}
	}
	if len(p.errs) > 0 {
		return
	}
	for i := range p.contents {
		if c := &p.contents[i]; c.Data != nil {
			*c = fillOf(c.Buffer, &p.g.Buffers[c.Buffer], c.Data)
		}
	}
}
