package sim

import (
	"encoding/binary"
	"testing"

	"github.com/reprise-gpu/reprise/device"
)

// The three situations of a launch over 4 MB in and 4 MB out, of a kernel that
// does next to nothing with a byte, which is when a memo pays least: never
// tried, tried in vain, and found.
func BenchmarkLaunch(b *testing.B) {
	const words = 1 << 20
	for _, c := range []struct {
		name    string
		options Options
		change  bool
	}{
		{"interpreted", Options{Memo: MemoOff}, true},
		{"in vain", Options{}, true},
		{"found", Options{}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b, c.options)
			src, err := r.Alloc(4 * words)
			r.ok(err)
			dst, err := r.Alloc(4 * words)
			r.ok(err)
			l := r.launchAffine(dst, src, 3, 1)
			l.Grid = device.Dim3{X: words / 64, Y: 1, Z: 1}
			binary.LittleEndian.PutUint32(l.Params[24:], words)
			var count uint32
			for b.Loop() {
				if c.change {
					count++
					r.ok(r.Write(src, binary.LittleEndian.AppendUint32(nil, count)))
				}
				if r.memo.shapes != nil && c.change {
					for _, s := range r.memo.shapes {
						s.misses, s.pause = 0, 0 // no patience: what it would cost each time
					}
				}
				r.ok(r.Submit(r.streams[0], l))
				r.ok(r.Synchronize(r.streams[0]))
			}
		})
	}
}
