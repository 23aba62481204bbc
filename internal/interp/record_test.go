package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestRecord runs testdata/record/*: "record" launches a body of the test programs
// and prints what it touched, as byte offsets.
func TestRecord(t *testing.T) {
	datadriven.Walk(t, "testdata/record", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			l := Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1), Record: &Record{}}
			td.MaybeScanArgs(t, "grid", &l.Grid[0])
			td.MaybeScanArgs(t, "block", &l.Block[0])
			d := open(t, "main.ptx", programHeader+programEntry+td.Input+"\n}\n")
			out, in := buffer(d, "out", make([]uint32, 64)), buffer(d, "in", make([]byte, 256))
			l.Params = params(out, in, uint64(0), uint32(0), uint32(0))
			d.run("main", l)
			return printRecord(d, "main", l.Record)
		})
	})
}

func printRecord(d *device, entry string, r *Record) string {
	var b strings.Builder
	for _, a := range r.Allocations {
		fmt.Fprintf(&b, "%s\n", d.mem.find(a.Base, 0).name)
		line := func(name string, list []Span) {
			if len(list) > 0 {
				fmt.Fprintf(&b, "  %s", name)
				for _, s := range list {
					fmt.Fprintf(&b, " %d-%d", s.Lo-a.Base, s.Hi-a.Base)
				}
				b.WriteString("\n")
			}
		}
		line("read", a.Read)
		line("exposed", a.Exposed)
		line("written", a.Written)
		for _, k := range a.Atomic {
			line(k.Kind, k.Spans)
		}
		for _, s := range a.Sites {
			line(fmt.Sprintf("line %d (store %v, atomic %v)", d.kernel(entry).Place(s.Inst).Line, s.Stores, s.Atomic), []Span{s.Range})
		}
	}
	return b.String()
}

// What a launch computes depends on the bytes it is said to depend on, and on no
// others: with everything else changed it writes the same.
func TestRecordIsComplete(t *testing.T) {
	d := openKernels(t)
	for _, c := range recordCases(d) {
		t.Run(c.kernel, func(t *testing.T) {
			before := snapshot(d)
			l := c.launch
			l.Record = &Record{}
			l.Workers = 2
			d.run(c.kernel, l)
			after := snapshot(d)
			exposed, written := map[uint64]bool{}, map[uint64]bool{}
			for _, a := range l.Record.Allocations {
				fillSet(exposed, a.Exposed)
				fillSet(written, a.Written)
				for _, k := range a.Atomic {
					fillSet(written, k.Spans)
				}
			}
			require.NotEmpty(t, written)
			for addr, v := range after {
				if !written[addr] {
					require.Equal(t, before[addr], v, "byte %#x changed and is not in Written", addr)
				}
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, a := range d.mem.allocs {
				for i, b := range a.bytes() {
					addr := a.base + uint64(i)
					a.bytes()[i] = before[addr]
					if !exposed[addr] {
						a.bytes()[i] = b ^ byte(1+rng.IntN(255))
					}
				}
			}
			l.Record = nil
			d.run(c.kernel, l)
			for addr, v := range snapshot(d) {
				if written[addr] {
					require.Equal(t, after[addr], v, "byte %#x depends on bytes that are not in Exposed", addr)
				}
			}
		})
	}
}

func fillSet(set map[uint64]bool, list []Span) {
	for _, s := range list {
		for a := s.Lo; a < s.Hi; a++ {
			set[a] = true
		}
	}
}

func snapshot(d *device) map[uint64]byte {
	m := map[uint64]byte{}
	for _, a := range d.mem.allocs {
		for i, b := range a.bytes() {
			m[a.base+uint64(i)] = b
		}
	}
	return m
}

// A record costs nothing when none is wanted, and its memory is used again.
func TestRecordMemoryIsReused(t *testing.T) {
	d := openKernels(t)
	c := recordCases(d)[0]
	c.launch.Record = &Record{}
	d.run(c.kernel, c.launch)
	w := c.launch.Record.workers[0]
	spare := slices.Concat(w.spare[:]...)
	require.NotEmpty(t, spare)
	for range 5 {
		d.run(c.kernel, c.launch)
		require.ElementsMatch(t, spare, slices.Concat(w.spare[:]...))
		for _, m := range spare {
			for _, word := range m.words[:cap(m.words)] {
				require.Zero(t, word)
			}
			for _, set := range m.stretches {
				require.Zero(t, set)
			}
		}
	}
}

type recordCase struct {
	kernel string
	launch Launch
}

// recordCases launches the kernels at hand, at sizes that divide nothing.
func recordCases(d *device) []recordCase {
	rng := rand.New(rand.NewPCG(3, 4))
	floats := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32()
		}
		return v
	}
	x, y, z := buffer(d, "x", floats(700)), buffer(d, "y", floats(700)), buffer(d, "z", floats(8))
	image, result, weights := buffer(d, "image", floats(37*19)), buffer(d, "result", floats(37*19)), buffer(d, "weights", floats(9))
	n := int32(617)
	return []recordCase{
		{"square", Launch{Grid: dims(5, 1, 1), Block: dims(128, 1, 1), Params: params(x, y, n)}},
		{"axpy", Launch{Grid: dims(5, 1, 1), Block: dims(128, 1, 1), Params: params(float32(2), x, y, n)}},
		{"reduce", Launch{Grid: dims(3, 1, 1), Block: dims(128, 1, 1), Params: params(x, y, z, n)}},
		{"sobel", Launch{Grid: dims(3, 3, 1), Block: dims(8, 8, 1), Params: params(image, result, int32(19), int32(37))}},
		{"blur", Launch{Grid: dims(3, 3, 1), Block: dims(8, 8, 1), Shared: 9 * 4, Params: params(image, result, int32(19), int32(37), weights, int32(3))}},
		{"expk", Launch{Grid: dims(3, 1, 1), Block: dims(64, 1, 1), Params: params(x, y, int32(130))}},
	}
}

// flags are what was done to each byte: what marks are when they are written down one by one.
type flags struct{ read, exposed, written, atomic []bool }

func newFlags(n int) *flags {
	return &flags{make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)}
}

func (f *flags) mark(kind accessKind, lo, hi uint64) {
	for i := lo; i < hi; i++ {
		if kind != stores && !f.written[i] && !f.atomic[i] {
			f.exposed[i] = true
		}
		f.read[i] = f.read[i] || kind == loads
		f.written[i] = f.written[i] || kind == stores
		f.atomic[i] = f.atomic[i] || kind == updates
	}
}

// runs are the spans of what both flags say at addresses from base on.
func runs(base uint64, a, b []bool) (list []Span) {
	for i := range a {
		at := base + uint64(i)
		switch k := len(list); {
		case !a[i] && !b[i]:
		case k > 0 && list[k-1].Hi == at:
			list[k-1].Hi++
		default:
			list = append(list, Span{at, at + 1})
		}
	}
	return list
}

// Random accesses of two engines are recorded byte for byte, both for few and for many
// accesses, and across the border of two stretches. After a wipe the marks are blank.
func TestMarksAreWhatEachByteSays(t *testing.T) {
	const size = 70_001
	rng := rand.New(rand.NewPCG(5, 6))
	of := &allocation{base: 1 << 20, size: size}
	engines := []*marks{newMarks(bitmapWords(size)), newMarks(bitmapWords(size))}
	for round := range 200 {
		want := []*flags{newFlags(size), newFlags(size)}
		for k, m := range engines {
			m.reset(of)
			for range rng.IntN(1 + round) {
				kind, lo := []accessKind{loads, stores, updates}[rng.IntN(3)], rng.Uint64N(size)
				hi := min(size, lo+1+rng.Uint64N(1<<rng.IntN(14)))
				m.mark(kind, lo, hi)
				want[k].mark(kind, lo, hi)
				if kind == updates {
					m.atomic("add.u32").set(lo, hi)
				}
			}
		}
		engines[0].merge(engines[1])
		got, a, b := engines[0].recorded(), want[0], want[1]
		require.Equal(t, runs(of.base, a.read, b.read), got.Read, "round %d", round)
		require.Equal(t, runs(of.base, a.exposed, b.exposed), got.Exposed, "round %d", round)
		require.Equal(t, runs(of.base, a.written, b.written), got.Written, "round %d", round)
		if atomic := runs(of.base, a.atomic, b.atomic); atomic != nil {
			require.Equal(t, []AtomicSpans{{"add.u32", atomic}}, got.Atomic, "round %d", round)
		}
		for _, m := range engines {
			m.wipe()
			for _, w := range m.words {
				require.True(t, w == touchedWord{}, "round %d", round)
			}
		}
	}
}
