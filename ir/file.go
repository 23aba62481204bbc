package ir

import (
	"strings"

	"golang.org/x/tools/txtar"
)

// File is the content of a .rir file: a graph with the sources of its modules and, optionally, a schedule
// of the graph.
type File struct {
	Graph    *Graph
	Schedule *Schedule // nil when the file has none
}

// Format returns the text of a whole file, a txtar archive: the graph, the
// schedule unless it is nil, and a section with the PTX of every module that
// has a source. A source that lacks a final newline gains one.
func Format(g *Graph, s *Schedule) []byte {
	if g == nil {
		return nil
	}
	p := printer{g: g}
	p.graph()
	if s != nil {
		p.text("\n")
		p.schedule(s)
	}
	a := txtar.Archive{Comment: p.buf}
	for i := range g.Modules {
		if m := &g.Modules[i]; m.Source != "" {
			a.Files = append(a.Files, txtar.File{Name: m.File, Data: []byte(m.Source)})
		}
	}
	if len(a.Files) == 0 {
		return p.buf
	}
	return txtar.Format(&a)
}

// section is a part of a file that holds the PTX of a module.
type section = txtar.File

// cutSections splits a file into the .rir text and the sections after it. A text without a marker is not
// parsed as an archive, which would copy it.
func cutSections(src string) (string, []section) {
	if !strings.HasPrefix(src, "-- ") && !strings.Contains(src, "\n-- ") {
		return src, nil
	}
	a := txtar.Parse([]byte(src))
	return src[:min(len(a.Comment), len(src))], a.Files
}
