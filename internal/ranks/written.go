package ranks

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/ir"
)

// readWritten sets the bytes of data that no device holds to what the program has written on any rank, and to zero where it has
// written nothing. The ranks gather which bytes each of them has. If these differ, a second gather brings the others.
func (p *Plan) readWritten(ctx context.Context, data []byte, from ir.Range, host spans) error {
	if len(host) == 0 {
		return nil
	}
	for _, h := range host {
		clear(data[h.Lo-from.Lo : h.Hi-from.Lo])
	}
	p.copyWritten(data, from, host)
	all, err := p.gather(ctx, "Read of "+p.text(from), p.written(from.Buffer, host).encode())
	if err != nil {
		return err
	}
	senders := newest(all)
	if senders == nil {
		return nil
	}
	var mine []byte
	for _, s := range senders[p.rank.Number()] {
		mine = append(mine, data[s.Lo-from.Lo:s.Hi-from.Lo]...)
	}
	if all, err = p.gather(ctx, "Read of "+p.text(from), mine); err != nil {
		return err
	}
	for r, list := range senders {
		for _, s := range list {
			n := copy(data[s.Lo-from.Lo:s.Hi-from.Lo], all[r])
			all[r] = all[r][n:]
		}
	}
	return nil
}

// copyWritten copies what the program has written on this rank to some bytes of data.
func (p *Plan) copyWritten(data []byte, from ir.Range, to spans) {
	for _, one := range p.origin[from.Buffer] {
		for _, s := range to {
			if at, part := one.within(s.Lo, s.Hi); len(part) > 0 {
				copy(data[at-from.Lo:], part)
			}
		}
	}
}

// dated is the bytes that the program has written on a rank, by the number of steps before. Of bytes that were written several
// times, it has the last time.
type dated map[int]spans

// written returns which bytes of a buffer, as far as they are in host, the program has written on this rank.
func (p *Plan) written(b ir.BufferID, host spans) dated {
	d, later := dated{}, spans{}
	for _, one := range slices.Backward(p.origin[b]) {
		mine := spans{{Lo: one.lo, Hi: one.lo + int64(len(one.bytes))}}
		d[one.step] = union(append(d[one.step], mine.common(host).minus(later)...))
		later = union(append(later, mine...))
	}
	return d
}

// encode returns the spans, each as three words of eight bytes.
func (d dated) encode() (text []byte) {
	for step, list := range d {
		for _, s := range list {
			text = binary.LittleEndian.AppendUint64(text, uint64(step))
			text = binary.LittleEndian.AppendUint64(text, uint64(s.Lo))
			text = binary.LittleEndian.AppendUint64(text, uint64(s.Hi))
		}
	}
	return text
}

// decodeDated is the inverse of encode.
func decodeDated(text []byte) dated {
	d := dated{}
	for ; len(text) >= 24; text = text[24:] {
		step := int(binary.LittleEndian.Uint64(text))
		lo, hi := binary.LittleEndian.Uint64(text[8:]), binary.LittleEndian.Uint64(text[16:])
		d[step] = append(d[step], distribute.Span{Lo: int64(lo), Hi: int64(hi)})
	}
	return d
}

// newest returns for each rank the bytes that it sends to all others: those that it has written last, as the first rank in
// this step. Bytes that all ranks have written in the same step are sent by none. It returns nil if no rank sends.
func newest(encoded [][]byte) []spans {
	steps, ranks := map[int]bool{}, make([]dated, len(encoded))
	for r, text := range encoded {
		ranks[r] = decodeDated(text)
		for step, list := range ranks[r] {
			steps[step] = true
			ranks[r][step] = union(list)
		}
	}
	senders, any := make([]spans, len(ranks)), false
	var later spans
	for _, step := range slices.Backward(slices.Sorted(maps.Keys(steps))) {
		shared := ranks[0][step]
		for _, d := range ranks {
			shared = shared.common(d[step])
		}
		later = union(append(later, shared...))
		for r, d := range ranks {
			list := d[step].minus(later)
			any = any || len(list) > 0
			senders[r] = append(senders[r], list...)
			later = union(append(later, list...))
		}
	}
	if !any {
		return nil
	}
	return senders
}
