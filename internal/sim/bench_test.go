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
			r := newUncheckedRig(b, c.options)
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

// A replay of 1000 small kernels in ten lanes, with unchanged input: what the
// simulation of time costs.
func BenchmarkReplay1000(b *testing.B) {
	r := newUncheckedRig(b, Options{})
	g, err := r.CreateGraph()
	r.ok(err)
	var lanes [10][]device.Node
	for i := range 1000 {
		p, err := r.Alloc(4 * rigWords)
		r.ok(err)
		n, err := r.AddNode(g, lanes[i%10], r.launchAffine(p, r.buffers[0], uint32(i), 1))
		r.ok(err)
		lanes[i%10] = []device.Node{n}
	}
	x, err := r.Instantiate(g)
	r.ok(err)
	b.ReportAllocs()
	for b.Loop() {
		r.ok(r.LaunchGraph(x, r.streams[0]))
		r.ok(r.Synchronize(r.streams[0]))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/kernel")
}
