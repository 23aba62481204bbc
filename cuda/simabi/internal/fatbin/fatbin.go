// Package fatbin reads the container in which nvcc stores code for several
// architectures: a header, then entries, each a header and a cubin or PTX text.
//
//	offset  header                  entry
//	     0  u32 magic               u16 kind: 1 PTX, 2 cubin
//	     4  u16 version             u32 bytes of this header
//	     6  u16 bytes of this one
//	     8  u64 bytes that follow   u64 bytes that follow, with padding
//	    16                          u32 bytes of them if compressed
//	    28                          u32 architecture, 75 for sm_75
//	    40                          u64 flags; 0x2000: compressed, an LZ4 block
//	    56                          u64 bytes when no longer compressed
//
// The format is not documented. The figures are from files that nvcc 11.8 wrote.
package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic is the start of a fatbin.
const Magic = "\x50\xed\x55\xba"

const (
	headerSize = 16
	entrySize  = 64 // of its header, at least
	kindPTX    = 1
	compressed = 0x2000
	// maxText bounds the expanded size of an entry, in bytes.
	maxText = 1 << 30
)

// ErrNoPTX is wrapped by the error for a fatbin without PTX for an architecture.
var ErrNoPTX = errors.New("no PTX for the architecture")

var errShort = errors.New("the fatbin is cut short")

// Size returns the size in bytes of the fatbin with the given header.
func Size(header []byte) (int, error) {
	if len(header) < headerSize || string(header[:4]) != Magic {
		return 0, errors.New("not a fatbin")
	}
	own, body := int(binary.LittleEndian.Uint16(header[6:])), binary.LittleEndian.Uint64(header[8:])
	if own < headerSize || body > maxText {
		return 0, fmt.Errorf("a fatbin of %d bytes after a header of %d", body, own)
	}
	return own + int(body), nil
}

// PTX returns the text for the newest architecture that is not newer than arch.
func PTX(image []byte, arch int) ([]byte, error) {
	size, err := Size(image)
	if err != nil {
		return nil, err
	}
	if len(image) < size {
		return nil, errShort
	}
	var best entry
	for rest := image[binary.LittleEndian.Uint16(image[6:]):size]; len(rest) > 0; {
		e, n, err := next(rest)
		if err != nil {
			return nil, err
		}
		if e.kind == kindPTX && e.arch <= arch && e.arch > best.arch {
			best = e
		}
		rest = rest[n:]
	}
	if best.arch == 0 {
		return nil, fmt.Errorf("%w sm_%d", ErrNoPTX, arch)
	}
	return best.text()
}

type entry struct {
	kind, arch int
	flags      uint64
	packed     []byte // the data if compressed
	plain      []byte // the data otherwise
	size       uint64 // of the expanded data
}

// next reads the entry at the beginning of b and returns its length.
func next(b []byte) (e entry, n int, err error) {
	if len(b) < entrySize {
		return e, 0, errShort
	}
	le := binary.LittleEndian
	header, body, packed := uint64(le.Uint32(b[4:])), le.Uint64(b[8:]), uint64(le.Uint32(b[16:]))
	if header < entrySize || header > uint64(len(b)) || body > uint64(len(b))-header || packed > body {
		return e, 0, errShort
	}
	data := b[header : header+body]
	return entry{
		kind: int(le.Uint16(b)), arch: int(le.Uint32(b[28:])), flags: le.Uint64(b[40:]),
		packed: data[:packed], plain: data, size: le.Uint64(b[56:]),
	}, int(header + body), nil
}

// text returns the entry's PTX, up to its NUL.
func (e *entry) text() ([]byte, error) {
	text := e.plain
	if e.flags&compressed != 0 {
		if e.size > maxText {
			return nil, fmt.Errorf("an entry of %d bytes", e.size)
		}
		var err error
		if text, err = expand(e.packed, int(e.size)); err != nil {
			return nil, err
		}
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	return text, nil
}
