package loop

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

//go:embed until.ptx
var untilPTX string

// Until is what ends a loop: an element of a buffer that compares to a value in a certain
// way. For a flag that kernels set it is NotEqual to 0.
type Until struct {
	Buffer ir.BufferID // device memory, of f32, f64, i32 or u32, that the body writes
	Index  int64       // of the element
	Is     ir.Comparison
	Value  float64
}

// finding is what a look at the scalar comes to, with the numbers of until.cu.
type finding uint32

const (
	goOn finding = iota
	met
	notANumber
)

// scalars are the types a scalar may have. Each fits a double, so that the device and the
// host compare the same numbers, and has a kernel in until.cu.
var scalars = []ir.Type{ir.F32, ir.F64, ir.I32, ir.U32}

// ErrEndless is why Instantiate refuses a predicate whose scalar the body leaves alone.
var ErrEndless = errors.New("no operation of the body writes it, so that the loop would not end by it")

// predicate is an Until on a device.
type predicate struct {
	Until
	at    device.Ptr
	elem  ir.Type
	bytes int64
	name  string // as in "@residual[0] below 1e-08"

	writers []bool // by operation, which may write the scalar
}

func newPredicate(s *ir.Schedule, b graphexec.Bindings, u Until) (*predicate, error) {
	g := s.Graph
	if u.Buffer < 0 || int(u.Buffer) >= len(g.Buffers) {
		return nil, fmt.Errorf("until: the graph has no buffer %d", u.Buffer)
	}
	buf := &g.Buffers[u.Buffer]
	name := fmt.Sprintf("@%s[%d]", buf.Name, u.Index)
	bad := func(format string, args ...any) (*predicate, error) {
		return nil, fmt.Errorf("until %s: %w", name, fmt.Errorf(format, args...))
	}
	switch {
	case u.Index < 0 || u.Index >= buf.Len:
		return bad("the buffer has %d elements", buf.Len)
	case !slices.Contains(scalars, buf.Elem):
		return bad("an element is %v; use f32, f64, i32 or u32", buf.Elem)
	case buf.Place.Kind != ir.OnDevice:
		return bad("the buffer is host or managed memory; use device memory, which a loop on the device can read")
	case buf.Role == ir.Temporary:
		return bad("the buffer is temporary, so nothing of it is left after an iteration; give it the role inout or output")
	case !u.Is.Valid():
		return bad("%v is none of Below, AtMost, Equal, NotEqual, AtLeast and Above", u.Is)
	case math.IsNaN(u.Value):
		return bad("nothing compares to NaN; a scalar that is no number ends a loop anyway")
	}
	p := &predicate{Until: u, elem: buf.Elem, bytes: buf.Elem.Size(), name: fmt.Sprintf("%s %v %g", name, u.Is, u.Value)}
	p.writers = parts.Writers(g, p.span())
	if err := p.written(func(ir.OpID) bool { return false }); err != nil {
		return nil, err
	}
	p.at = b.Pointer(u.Buffer) + device.Ptr(u.Index*p.bytes)
	return p, nil
}

// written is the error of a body in which nothing writes the scalar, with some operations off.
func (p *predicate) written(off func(ir.OpID) bool) error {
	for v, writes := range p.writers {
		if writes && !off(ir.OpID(v)) {
			return nil
		}
	}
	return fmt.Errorf("until %s: %w", p.name, ErrEndless)
}

func (p *predicate) span() ir.Range {
	return ir.Range{Buffer: p.Buffer, Lo: p.Index * p.bytes, Hi: (p.Index + 1) * p.bytes}
}

// kernel is the kernel of until.cu that ends a round, and its last parameters, by which it tells whether the loop goes on;
// nil when no value of the scalar ends it.
func (p *predicate) kernel() (entry string, test []byte) {
	if p.elem == ir.F32 || p.elem == ir.F64 {
		low, high := p.stays()
		test = binary.LittleEndian.AppendUint64(nil, math.Float64bits(low))
		return "until_" + p.elem.String(), binary.LittleEndian.AppendUint64(test, math.Float64bits(high))
	}
	if low, span, some := p.ends(); some {
		test = binary.LittleEndian.AppendUint32(nil, low)
		test = binary.LittleEndian.AppendUint32(test, span)
	}
	return "until_word", test
}

// stays is an interval of the numbers with which a loop goes on. For Equal, when they are all but one, it is from that one to NaN,
// and when there are none, it is from NaN.
func (p *predicate) stays() (low, high float64) {
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

// ends are the words that end a loop, from low to low + span, which may go round by zero. It is false when none does.
func (p *predicate) ends() (low, span uint32, some bool) {
	least, greatest := float64(math.MinInt32), float64(math.MaxInt32)
	if p.elem == ir.U32 {
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

// look is what the bytes of the scalar come to.
func (p *predicate) look(b []byte) finding {
	var x float64
	switch word := binary.LittleEndian.Uint32(b); p.elem {
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
		return notANumber
	case x < p.Value:
		how = ir.Below
	case x > p.Value:
		how = ir.Above
	}
	if how&p.Is != 0 {
		return met
	}
	return goOn
}
