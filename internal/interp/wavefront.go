package interp

import (
	"math/bits"
	"slices"
)

// pattern is the relation of the addresses in a full warp.
type pattern uint8

// Patterns of addresses.
const (
	scattered  pattern = iota
	adjacent           // adjacent elements
	oneElement         // one element
)

// accessPattern returns the pattern of an access by all lanes, and the first lane's address.
func (w *warp) accessPattern(in *inst, n uint64) (pattern, uint64) {
	first := w.address(in, firstLane(w.live))
	if w.live != allLanes {
		return scattered, first
	}
	var rowDiff, diff uint64
	for i := range lanes {
		a := w.address(in, i)
		rowDiff |= a ^ (first + uint64(i)*n)
		diff |= a ^ first
	}
	switch {
	case rowDiff == 0:
		return adjacent, first
	case diff == 0:
		return oneElement, first
	}
	return scattered, first
}

// updateCycles is the number of cycles by which a lane delays the next one that updates the
// same word of shared memory. It is fitted to the kernel histogram on three GPUs, the only
// published rows on which it has an effect.
const updateCycles = 6

// bankWavefronts returns the number of passes that shared memory needs for one instruction.
// Each of its 32 banks, 4 bytes wide, serves one word per pass:
//
//	bank     0    1    2   …   31
//	word     0    1    2   …   31      one pass: every lane another bank
//	word     0   32                    words 0 and 32 are in bank 0: two passes
//
// Lanes that read the same word share it; a lane that updates the same word as another
// takes updateCycles. Accesses wider than a word are served for a part of the warp at a
// time, which the count of words accounts for.
func bankWavefronts(w *warp, in *inst) int64 {
	const wordBytes = 4
	n := in.x.bytes()
	updating := in.x.kind == updates
	switch p, _ := w.accessPattern(in, n); {
	case p == adjacent:
		return int64(max(1, n/wordBytes))
	case p == oneElement && !updating:
		return 1
	}
	// For each bank: the number of different words that the lanes access. Most banks have
	// one, so only further words are listed.
	var load [32]int64   // passes of each bank
	var first [32]uint64 // the first of them, plus one
	var more [4 * lanes]uint64
	others := more[:0]
	busiest := int64(1)
	for m := w.live; m != 0; m &= m - 1 {
		addr := w.address(in, bits.TrailingZeros32(m))
		for word := addr / wordBytes; word <= (addr+n-1)/wordBytes; word++ {
			b := word & 31
			switch {
			case first[b] == 0:
				first[b] = word + 1
			case updating && first[b] == word+1:
				load[b] += updateCycles - 1
			case updating:
			case first[b] == word+1 || slices.Contains(others, word):
				continue
			default:
				others = append(others, word)
			}
			load[b]++
			busiest = max(busiest, load[b])
		}
	}
	return busiest
}

// tagCycles returns the cycles that L1 needs to look up lines. The constants are fitted to loads with strides of 1 to 15
// words that hit, measured on an A100 and an A40.
func tagCycles(lines int64) float64 { return 0.6 + float64(lines)/4 }

// linesOf returns the number of lines of an access.
func linesOf(w *warp, in *inst, n uint64) int64 {
	var lines sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		addr := w.address(in, bits.TrailingZeros32(m))
		lines.one(addr>>7 + 1)
		lines.one((addr+n-1)>>7 + 1)
	}
	return lines.count
}

// distinctWords returns the number of addresses of an access to constant memory, which the constant cache serves one
// after the other.
func distinctWords(w *warp, in *inst) int64 {
	var words sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		words.one(w.address(in, bits.TrailingZeros32(m)) + 1)
	}
	return words.count
}
