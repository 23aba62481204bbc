package distribute

import (
	"fmt"
	"math"
	"strings"
)

// tiled cuts a launch into tiles along an axis and the one below it. ok is false if that is not asked for, if one of the axes
// has too few blocks, or if two tiles would write the same bytes.
//
//	4 devices, 2 of them across       0 │ 1
//	                                  ──┼──
//	                                  2 │ 3
func (s *splitter) tiled(x *launch, axis int, private []Private) (d Decision, ok bool) {
	if !s.tiles || axis == 0 {
		return d, false
	}
	across := s.across(x, axis)
	if across < 2 {
		return d, false
	}
	d = Decision{How: Split, Axis: axis, Across: across, Private: private}
	x.private = private
	grid := x.whole.Grid
	devices := len(s.layout.Devices)
	for dev := range devices {
		row := dev - dev%across
		t := Tile{Count: grid}
		s.cutAxis(&t, axis, int64(grid[axis]), 0, row, row+across, devices)
		s.cutAxis(&t, axis-1, int64(grid[axis-1]), row, dev, dev+1, row+across)
		blocks := int64(t.Count[0]) * int64(t.Count[1]) * int64(t.Count[2])
		if blocks == 0 {
			continue
		}
		c := Chunk{Device: int32(dev), Count: blocks, Tile: &t}
		c.Accesses = x.accesses(t, int32(dev))
		d.Chunks = append(d.Chunks, c)
	}
	d = s.checked(x, d, fmt.Sprintf("%c and %c", "xyz"[axis], "xyz"[axis-1]))
	return d, d.How == Split
}

// cutAxis sets the blocks of a tile on an axis with n blocks: those of the devices [lo, hi), where the devices [first, last)
// share the axis by their weights.
func (s *splitter) cutAxis(t *Tile, axis int, n int64, first, lo, hi, last int) {
	total := s.weights[last] - s.weights[first]
	at := func(dev int) uint32 { return uint32(float64(n)*((s.weights[dev]-s.weights[first])/total) + 0.5) }
	t.First[axis], t.Count[axis] = at(lo), at(hi)-at(lo)
}

// across returns how many devices are side by side along the axis below axis: the divisor of their number for which a tile in
// the middle has the shortest borders, in threads, and the smaller one of two that are as good.
func (s *splitter) across(x *launch, axis int) (best int) {
	devices := len(s.layout.Devices)
	shortest := math.Inf(1)
	threads := func(a int) float64 { return float64(x.whole.Grid[a]) * float64(x.whole.Block[a]) }
	for n := 1; n <= devices; n++ {
		if devices%n != 0 || devices/n > int(x.whole.Grid[axis]) || n > int(x.whole.Grid[axis-1]) {
			continue
		}
		height, width := threads(axis)*float64(n)/float64(devices), threads(axis-1)/float64(n)
		if border := float64(min(2, n-1))*height + float64(min(2, devices/n-1))*width; border < shortest {
			best, shortest = n, border
		}
	}
	return best
}

// String returns the blocks on the axes x, y and, if there are several, z.
func (t *Tile) String() string {
	var list []string
	for a := range t.First {
		list = append(list, fmt.Sprintf("%d:%d", t.First[a], t.First[a]+t.Count[a]))
	}
	if t.First[2] == 0 && t.Count[2] == 1 {
		list = list[:2]
	}
	return strings.Join(list, ", ")
}
