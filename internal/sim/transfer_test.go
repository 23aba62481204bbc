package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// transfers is a device with blocks of memory of each kind, and what the host
// thinks they hold.
type transfers struct {
	*Device
	t      *testing.T
	stream device.Stream
	sides  [3]transferSide // device, pinned, pageable
}

type transferSide struct {
	at   device.Ptr
	host []byte
	want []byte
}

const transferBytes = 4000

func newTransfers(t *testing.T, o Options) *transfers {
	x := &transfers{Device: open(t, o), t: t}
	var err error
	x.stream, err = x.CreateStream(0)
	require.NoError(t, err)
	for i := range x.sides {
		x.sides[i].want = make([]byte, transferBytes)
	}
	x.sides[0].at, err = x.Alloc(transferBytes)
	require.NoError(t, err)
	require.NoError(t, x.Write(x.sides[0].at, make([]byte, transferBytes)))
	x.sides[1].at, x.sides[1].host, err = x.AllocHost(transferBytes)
	require.NoError(t, err)
	x.sides[2].host = make([]byte, transferBytes)
	return x
}

func (x *transfers) region(side int, off, pitch, slice int64) Region {
	r := Region{Pitch: pitch, Slice: slice}
	if s := &x.sides[side]; s.at != 0 {
		r.At = s.at + device.Ptr(off)
	} else {
		r.Host = s.host[off:]
	}
	return r
}

// Copies of random boxes between all kinds of memory move the bytes that three plain
// loops move, and nothing else.
func TestTransfersAreThreeLoops(t *testing.T) {
	x := newTransfers(t, Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	n := func(most int) int64 { return int64(rng.IntN(most)) }
	for range 300 {
		from, to := rng.IntN(3), rng.IntN(3)
		if from == to {
			continue // rows might overlap
		}
		w, h, d := n(20), n(8), n(6)
		strides := func() (pitch, slice, off int64) {
			pitch = w + n(10)
			slice = pitch*h + n(20)
			return pitch, slice, n(int(transferBytes - d*slice))
		}
		p1, s1, o1 := strides()
		p2, s2, o2 := strides()
		for i := range x.sides[from].want {
			x.sides[from].want[i] = byte(rng.Uint32())
		}
		x.load(from)
		for z := range d {
			for y := range h {
				for i := range w {
					x.sides[to].want[o2+z*s2+y*p2+i] = x.sides[from].want[o1+z*s1+y*p1+i]
				}
			}
		}
		require.NoError(t, x.Submit(x.stream, &Transfer{Dst: x.region(to, o2, p2, s2), Src: x.region(from, o1, p1, s1), Width: w, Height: h, Depth: d}))
		x.compare(to)
	}
}

// load puts what a side should hold there.
func (x *transfers) load(side int) {
	s := &x.sides[side]
	if s.host != nil {
		copy(s.host, s.want)
		return
	}
	require.NoError(x.t, x.Write(s.at, s.want))
}

func (x *transfers) compare(side int) {
	s := &x.sides[side]
	require.NoError(x.t, x.Synchronize(x.stream))
	have := s.host
	if have == nil {
		have = make([]byte, transferBytes)
		require.NoError(x.t, x.Read(have, s.at))
	}
	require.Equal(x.t, s.want, have)
}

func TestFills(t *testing.T) {
	x := newTransfers(t, Options{})
	s := &x.sides[0]
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		width := 1 << rng.IntN(3)
		count, rows := int64(rng.IntN(20)), int64(rng.IntN(10))
		pitch := (count + int64(rng.IntN(5))) * int64(width)
		off, value := int64(rng.IntN(100))*4, rng.Uint32()
		for y := range rows {
			for i := range count * int64(width) {
				s.want[off+y*pitch+i] = byte(value >> (8 * (i % int64(width))))
			}
		}
		require.NoError(t, x.Submit(x.stream, &Fill{Dst: s.at + device.Ptr(off), Pitch: pitch, Value: value, Width: width, Count: count, Rows: rows}))
	}
	x.compare(0)
}

func TestTransfersOutOfBounds(t *testing.T) {
	x := newTransfers(t, Options{})
	whole := Transfer{Dst: x.region(0, 0, 40, 400), Src: x.region(2, 0, 40, 400), Width: 40, Height: 10, Depth: 10}
	require.NoError(t, x.Submit(x.stream, &whole))
	for name, spoil := range map[string]func(*Transfer){
		"wide":               func(w *Transfer) { w.Width++ },
		"high":               func(w *Transfer) { w.Height++ },
		"deep":               func(w *Transfer) { w.Depth++ },
		"moved":              func(w *Transfer) { w.Dst.At++ },
		"host too short":     func(w *Transfer) { w.Src.Host = w.Src.Host[1:] },
		"rows overlap":       func(w *Transfer) { w.Src.Pitch-- },
		"slices overlap":     func(w *Transfer) { w.Dst.Slice-- },
		"huge pitch":         func(w *Transfer) { w.Dst.Pitch = math.MaxInt64 },
		"huge slice":         func(w *Transfer) { w.Dst.Slice = math.MaxInt64/9 + 1 },
		"negative":           func(w *Transfer) { w.Width = -1 },
		"negative pitch":     func(w *Transfer) { w.Dst.Pitch = -400 },
		"more than there is": func(w *Transfer) { w.Height, w.Depth = math.MaxInt64, math.MaxInt64 },
	} {
		bad := whole
		spoil(&bad)
		assert.Equal(t, device.InvalidValue, device.CodeOf(x.Submit(x.stream, &bad)), name)
	}
	for _, bad := range []Fill{
		{Dst: x.sides[0].at + 2, Width: 4, Count: 1, Rows: 1},
		{Dst: x.sides[0].at, Width: 3, Count: 1, Rows: 1},
		{Dst: x.sides[0].at, Width: 4, Count: 1, Rows: 2, Pitch: 6},
		{Dst: x.sides[0].at, Width: 4, Count: 2, Rows: 2, Pitch: 4},
		{Dst: x.sides[0].at, Width: 1, Count: transferBytes + 1, Rows: 1},
	} {
		assert.Equal(t, device.InvalidValue, device.CodeOf(x.Submit(x.stream, &bad)), "%+v", bad)
	}
	require.NoError(t, x.Submit(x.stream, &Transfer{}), "nothing to do")
	require.NoError(t, x.Submit(x.stream, &Fill{Dst: x.sides[0].at, Width: 1, Count: 5}), "nothing to do")
}

// A box takes as long as as many bytes in a row.
func TestTransferTime(t *testing.T) {
	x := newTransfers(t, Options{})
	took := func(w device.Work) int64 {
		x.StartTimeline()
		require.NoError(t, x.Submit(x.stream, w))
		require.NoError(t, x.Synchronize(x.stream))
		total, _, _ := x.Timeline()
		return total
	}
	row := took(&device.Copy{Dst: x.sides[0].at, Src: x.sides[1].at, Bytes: 1000})
	box := took(&Transfer{Dst: x.region(0, 0, 20, 200), Src: x.region(1, 0, 30, 300), Width: 10, Height: 10, Depth: 10})
	assert.Equal(t, row, box)
	pageable := took(&Transfer{Dst: x.region(0, 0, 1000, 1000), Src: x.region(2, 0, 1000, 1000), Width: 1000, Height: 1, Depth: 1})
	assert.Equal(t, row, pageable)
}

// Transfers know the order that they need: two unordered ones that meet in a byte race, and
// rows between which the other's lie do not.
func TestTransfersRace(t *testing.T) {
	for _, race := range []bool{false, true} {
		x := newTransfers(t, Options{Race: RaceOn})
		other, err := x.CreateStream(0)
		require.NoError(t, err)
		off := int64(10)
		if race {
			off = 9
		}
		require.NoError(t, x.Submit(x.stream, &Transfer{Dst: x.region(0, 0, 20, 0), Src: x.region(2, 0, 10, 0), Width: 10, Height: 5, Depth: 1}))
		require.NoError(t, x.Submit(other, &Fill{Dst: x.sides[0].at + device.Ptr(off), Pitch: 20, Width: 1, Count: 10, Rows: 5}))
		err = x.SynchronizeAll()
		if race {
			assert.ErrorContains(t, err, "byte 9 and 4 further ranges, 5 bytes in all")
		} else {
			assert.NoError(t, err)
		}
	}
}
