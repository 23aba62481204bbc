package ranks

import (
	"bytes"
	"encoding/binary"

	"github.com/reprise-gpu/reprise/ir"
)

// noDevice is the device of pieces that no device holds.
const noDevice = -2

// writtenLate returns the pieces of what the program has written after the first step and no device holds. The program need not
// write it again before Resume.
func (p *Plan) writtenLate() (text []byte) {
	for i, list := range p.origin {
		b := ir.BufferID(i)
		whole := ir.Range{Buffer: b, Hi: p.plan.Graph.Buffers[b].Size()}
		host := outside(whole, p.owners(whole))
		for _, one := range list {
			for _, s := range host {
				if lo, part := one.within(s.Lo, s.Hi); one.step > 0 && len(part) > 0 {
					text = append(text, pieceHeader(noDevice, b, lo, lo+int64(len(part)))...)
					text = append(binary.LittleEndian.AppendUint64(text, uint64(one.step)), part...)
				}
			}
		}
	}
	return text
}

// restoreLate is the inverse of writtenLate. It returns false if the pieces are not complete.
func (p *Plan) restoreLate(body []byte) bool {
	for {
		if len(body) < pieceHeaderBytes {
			return false
		}
		if bytes.Equal(body, pieceHeader(-1, 0, 0, 0)) {
			return true
		}
		word := func(at int) int64 { return int64(binary.LittleEndian.Uint64(body[at:])) }
		b, lo, hi := ir.BufferID(binary.LittleEndian.Uint32(body[4:])), word(8), word(16)
		if int32(binary.LittleEndian.Uint32(body)) != noDevice || p.has(ir.Range{Buffer: b}) != nil || lo < 0 || lo > hi ||
			hi > p.plan.Graph.Buffers[b].Size() || int64(len(body)) < pieceHeaderBytes+8+hi-lo {
			return false
		}
		end := pieceHeaderBytes + 8 + hi - lo
		p.origin[b] = p.origin[b].with(piece{lo, bytes.Clone(body[pieceHeaderBytes+8 : end]), int(word(pieceHeaderBytes))})
		body = body[end:]
	}
}
