// Package until evaluates conditions of loops and branches, on the host and by kernels of its own.
package until

import (
	_ "embed"
	"encoding/binary"
	"math"

	"github.com/reprise-gpu/reprise/ir"
)

// PTX is the module with the kernels.
//
//go:embed until.ptx
var PTX string

// Offsets of words in the state of a loop that the device runs, and its size. They are those of struct state in until.cu.
const (
	StateLeft   = 0 // rounds left to this launch; the word after it is their maximum
	StateEvery  = 8 // rounds between two checks
	StateReport = 12
	StateBytes  = 16
)

// Offsets of words in the state of segments that run until a flag is set, and its size. They are those of struct run in
// until.cu. The host reads the words before RunLeft.
const (
	RunCursor  = 0
	RunNumber  = 4
	RunReplays = 8
	RunLeft    = 12
	RunFlag    = 16
	RunBytes   = 32
)

// MaxRounds is the maximum number of rounds of a launch. A simulated device treats more as an endless loop.
const MaxRounds = 1 << 20

// Never returns the last parameters of kernel until_word for a loop that no value of its scalar ends. With them, it
// compares the word at its first address with 0. Pass the word StateEvery, which is never 0.
func Never() []byte { return make([]byte, 8) }

// Finding is the result of an evaluation, with the numbers of until.cu.
type Finding uint32

const (
	GoOn Finding = iota
	Met
	NotANumber
)

// Test compares a scalar of a type with a value.
type Test struct {
	Elem  ir.Type
	Is    ir.Comparison
	Value float64
}

// Kernel returns the kernel of until.cu that ends a round, and its last parameters, which decide whether the loop goes
// on. They are nil if no value of the scalar ends it.
func (p *Test) Kernel() (entry string, test []byte) {
	entry, test = p.kernel()
	return "until_" + entry, test
}

// BranchKernel returns the kernel of until.cu that selects the body of a branch, and its last parameters. They are nil
// if the condition holds for no value.
func (p *Test) BranchKernel() (entry string, test []byte) {
	entry, test = p.kernel()
	return "branch_" + entry, test
}

func (p *Test) kernel() (entry string, test []byte) {
	if p.Elem == ir.F32 || p.Elem == ir.F64 {
		low, high := p.stays()
		test = binary.LittleEndian.AppendUint64(nil, math.Float64bits(low))
		return p.Elem.String(), binary.LittleEndian.AppendUint64(test, math.Float64bits(high))
	}
	if low, span, some := p.ends(); some {
		test = binary.LittleEndian.AppendUint32(nil, low)
		test = binary.LittleEndian.AppendUint32(test, span)
	}
	return "word", test
}

// stays returns the interval of the numbers with which a loop goes on. For Equal, these are all numbers except low, and
// high is NaN. If there are none, low is NaN.
func (p *Test) stays() (low, high float64) {
	v, inf := p.Value, math.Inf(1)
	switch p.Is {
	case ir.Below:
		return v, inf
	case ir.AtMost:
		if v < inf {
			return math.Nextafter(v, inf), inf
		}
	case ir.Above:
		return -inf, v
	case ir.AtLeast:
		if v > -inf {
			return -inf, math.Nextafter(v, -inf)
		}
	case ir.NotEqual:
		return v, v
	case ir.Equal:
		return v, math.NaN()
	}
	return math.NaN(), inf
}

// ends returns the words that end a loop, from low to low + span, which may wrap around to zero. It returns false if no
// word ends the loop.
func (p *Test) ends() (low, span uint32, some bool) {
	least, greatest := float64(math.MinInt32), float64(math.MaxInt32)
	if p.Elem == ir.U32 {
		least, greatest = 0, math.MaxUint32
	}
	from, to := least, greatest
	switch p.Is {
	case ir.Below:
		to = math.Ceil(p.Value) - 1
	case ir.AtMost:
		to = math.Floor(p.Value)
	case ir.Above:
		from = math.Floor(p.Value) + 1
	case ir.AtLeast:
		from = math.Ceil(p.Value)
	case ir.Equal, ir.NotEqual:
		from, to = math.Ceil(p.Value), math.Floor(p.Value)
	}
	from, to = max(from, least), min(to, greatest)
	none := from > to
	low, high := uint32(int64(from)), uint32(int64(to))
	switch {
	case p.Is == ir.NotEqual && none:
		return 0, math.MaxUint32, true
	case p.Is == ir.NotEqual:
		return high + 1, low - 1 - (high + 1), true
	}
	return low, high - low, !none
}

// Look evaluates the condition for the bytes of a scalar.
func (p *Test) Look(b []byte) Finding {
	var x float64
	switch word := binary.LittleEndian.Uint32(b); p.Elem {
	case ir.F32:
		x = float64(math.Float32frombits(word))
	case ir.F64:
		x = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case ir.I32:
		x = float64(int32(word))
	case ir.U32:
		x = float64(word)
	}
	how := ir.Equal
	switch {
	case math.IsNaN(x):
		return NotANumber
	case x < p.Value:
		how = ir.Below
	case x > p.Value:
		how = ir.Above
	}
	if how&p.Is != 0 {
		return Met
	}
	return GoOn
}
