package timeline

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// Title returns the name of a span in pictures, with the iteration of a loop.
func (s *Span) Title() string {
	title := s.Name
	if s.Iteration > 0 {
		title += fmt.Sprintf(" [%d]", s.Iteration)
	}
	return title
}

// TitleOf returns the name of an operation in pictures.
func TitleOf(g *ir.Graph, v ir.OpID) string {
	switch op := &g.Ops[v]; {
	case op.Label != "":
		return op.Label
	case op.Kind == ir.KindLaunch:
		return op.Launch.Entry
	case op.Kind == ir.KindCopy:
		return "copy " + g.Buffers[op.Copy.Src.Buffer].Name + " → " + g.Buffers[op.Copy.Dst.Buffer].Name
	case op.Kind == ir.KindMemset:
		return "fill " + g.Buffers[op.Memset.Dst.Buffer].Name
	case op.Kind == ir.KindPrefetch:
		return "prefetch " + g.Buffers[op.Prefetch.Range.Buffer].Name
	default:
		return op.Kind.String()
	}
}

// Number returns the number of the span's operation in the text form, with the path of its body: "%3", "%1/%0".
func (s *Span) Number() string { return s.Path + s.Op.String() }

// engineNames are the names of threads and tables.
var engineNames = [...]string{
	Multiprocessors: "multiprocessors", CopyIn: "copy engine, to the device", CopyOut: "copy engine, to the host",
	Memory: "device memory", Host: "host", Decision: "conditional node",
}

func (e Engine) String() string { return engineNames[e] }
