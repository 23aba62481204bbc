package ir

import (
	"strconv"
	"strings"
)

// The words of the text form, indexed by the constants that they stand for.
var (
	placeWords      = []string{OnDevice: "device", PinnedHost: "pinned", PageableHost: "pageable", Managed: "managed"}
	roleWords       = []string{Temporary: "temporary", Input: "input", Output: "output", InOut: "inout", Constant: "constant"}
	modeWords       = []string{Read: "read", Write: "write", ReadWrite: "readwrite", Reduce: "reduce"}
	phaseWords      = []string{Traced: "traced", Analyzed: "analyzed", Reduced: "reduced"}
	sideWords       = []string{hostSide: "host", deviceSide: "device"}
	comparisonWords = []string{"below", "equal", "above", "atmost", "atleast", "notequal"}
	comparisons     = []Comparison{Below, Equal, Above, AtMost, AtLeast, NotEqual}
	hazardWords     = []string{"raw", "war", "waw", "after"} // by bit
)

// Destinations of a prefetch, as indices of sideWords.
const (
	hostSide = iota
	deviceSide
)

// side returns the word for the destination of a prefetch.
func (p *Prefetch) side() string {
	if p.ToDevice {
		return sideWords[deviceSide]
	}
	return sideWords[hostSide]
}

// word returns words[i], or ?i for a value outside the table.
func word(words []string, i uint8) string {
	if int(i) < len(words) {
		return words[i]
	}
	return "?" + strconv.Itoa(int(i))
}

func (r Role) String() string  { return word(roleWords, uint8(r)) }
func (m Mode) String() string  { return word(modeWords, uint8(m)) }
func (p Phase) String() string { return word(phaseWords, uint8(p)) }

// String prints device(0), pinned, pageable or managed.
func (p Place) String() string {
	s := word(placeWords, uint8(p.Kind))
	if p.Kind == OnDevice {
		s += "(" + strconv.Itoa(int(p.Device)) + ")"
	}
	return s
}

// String prints the reasons joined: raw|war.
func (h Hazard) String() string {
	switch h { // the frequent ones, without building a string
	case RAW:
		return "raw"
	case Ordered:
		return "after"
	}
	var reasons []string
	for bit, w := range hazardWords {
		if h&(1<<bit) != 0 {
			reasons = append(reasons, w)
		}
	}
	return strings.Join(reasons, "|")
}
