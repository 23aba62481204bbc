package ir

import (
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// File is the content of a .rir file: a graph with the sources of its modules and, optionally, a schedule
// of the graph and the contents of its buffers.
type File struct {
	Tool     string // the program that wrote the file; "" for a file without a header
	Graph    *Graph
	Schedule *Schedule  // nil when the file has none
	Contents []Contents // ascending by buffer, each buffer at most once
}

// Format returns the text of a file without a header and without contents: see File.Text.
func Format(g *Graph, s *Schedule) []byte {
	return (&File{Graph: g, Schedule: s}).Text()
}

// Text returns the text of the whole file, a txtar archive: a header with the version of the format if Tool is set, the
// graph, the schedule and the contents if there are any, a section with the PTX of every module that has a source, and one
// for every buffer with much data. A source that lacks a final newline gains one. Text returns nil without a graph.
func (f *File) Text() []byte {
	if f == nil || f.Graph == nil {
		return nil
	}
	p := printer{g: f.Graph}
	if f.Tool != "" {
		p.text("rir " + strconv.Itoa(formatVersion) + " ")
		p.quote(f.Tool)
		p.text("\n\n")
	}
	p.graph()
	if f.Schedule != nil {
		p.text("\n")
		p.schedule(f.Schedule)
	}
	contents := f.canonical()
	if len(contents) > 0 {
		p.text("\n")
		p.contents(contents)
	}
	a := txtar.Archive{Comment: p.buf, Files: f.sections(contents)}
	if len(a.Files) == 0 {
		return p.buf
	}
	return txtar.Format(&a)
}

// canonical returns the contents with fills in place of data of equal elements.
func (f *File) canonical() []Contents {
	all := make([]Contents, len(f.Contents))
	for i, c := range f.Contents {
		if all[i] = c; c.Data != nil {
			all[i] = fillOf(c.Buffer, &f.Graph.Buffers[c.Buffer], c.Data)
		}
	}
	return all
}

// sections returns the sections behind the text.
func (f *File) sections(contents []Contents) (all []section) {
	for i := range f.Graph.Modules {
		if m := &f.Graph.Modules[i]; m.Source != "" {
			all = append(all, section{Name: m.File, Data: []byte(m.Source)})
		}
	}
	for i := range contents {
		c := &contents[i]
		if b := &f.Graph.Buffers[c.Buffer]; c.Data != nil && !inlined(b) {
			all = append(all, section{Name: packedName(b), Data: pack(c.Data)})
		}
	}
	return all
}

// section is a part of a file that holds the PTX of a module, or the data of a buffer.
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
