package ir

var pieceAttributes = []string{"predicted", "bound", "oversize"}

// pieceBounds are the values of the bound of a piece.
var pieceBounds = []string{"compute", "memory"}

// segments reads the pieces of one granularity: limit(100000ns) { %2 predicted(90000ns) ... }.
func (p *parser) segments(s *Schedule) {
	p.choose("the limit of the pieces", []string{"limit"})
	s.Segments = append(s.Segments, segments{})
	level := &s.Segments[len(s.Segments)-1]
	p.open('(')
	level.Limit = p.duration()
	p.close(')')
	ends := make([]int, len(p.g.Ops)) // by operation: the end of a piece that it is the last of; 0 without a turn
	for at, v := range s.Order {
		ends[v] = at + 1
	}
	p.block(func() { level.Pieces = append(level.Pieces, p.piece(ends)) })
}

// segments is an element of Schedule.Segments, and piece one of its pieces.
type (
	segments = struct {
		Limit  int64
		Pieces []piece
	}
	piece = struct {
		End       int
		Predicted int64
		Bound     string
		Oversize  string
	}
)

// piece reads %2 predicted(90000ns) bound(memory) oversize("its block takes longer"). The operations up to %2 have
// their turns above.
func (p *parser) piece(ends []int) (x piece) {
	at := p.pos
	v := p.knownOp()
	if p.failed {
		return x
	}
	if x.End = ends[v]; x.End == 0 {
		p.fail(at, "a piece ends with %v, which has no turn above: list the turns first", v)
	}
	seen := 0
	for c := p.peek(); c != '\n' && c != '}' && c != 0; c = p.peek() {
		i := p.once("an attribute of a piece", pieceAttributes, &seen)
		p.open('(')
		switch i {
		case 0:
			x.Predicted = p.duration()
		case 1:
			x.Bound = pieceBounds[p.choose("a bound of a piece", pieceBounds)]
		case 2:
			x.Oversize = p.quoted()
		}
		p.close(')')
	}
	if seen&1 == 0 {
		p.fail(p.pos, "the piece up to %v needs predicted(...)", v)
	}
	return x
}
