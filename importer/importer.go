// Package importer reads task graphs in the formats of other programs. The result is a graph of
// empty operations with costs, so that the planner can be tried on any public
// DAG.
//
//	DOT, edge list, STG, WfCommons ──► draft ──► ir.Graph
//	                                   tasks     program order,
//	                                   and arcs  one after edge per arc
//
// The parser of a format fills in a draft: tasks by name and arcs between them, in the order of the
// text, each with its position. The remaining steps are common to all formats: resolve names, remove
// duplicate arcs, report a cycle with its tasks, and put the tasks into a topological order,
// which is the order of the text if that is topological.
//
// Only tasks, costs and dependencies are imported. The data that pass along an arc, and the machines
// of a workflow, have no counterpart in a graph for one GPU.
package importer

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/ir"
)

// Options supplies what a text does not contain. The zero value is usable.
type Options struct {
	Format string        // name of one of Formats; "" selects it by the extension of the file
	Unit   time.Duration // unit of a cost without a unit; 0 means a microsecond
	Cost   time.Duration // cost of a task without one in the text
}

// Format is a format that Read accepts.
type Format struct {
	Name, Doc  string
	extensions []string
	parse      func(*draft) error
}

var formats = []Format{
	{"dot", "Graphviz, including the output of cuGraphDebugDotPrint; the attribute cost of a node is its cost", []string{".dot", ".gv"}, parseDOT},
	{"edges", "one FROM TO a line; lines that start with #, % or // are comments", []string{".txt", ".edges", ".edgelist", ".el", ".tsv"}, parseEdges},
	{"counted", "an edge list of tasks 0, 1, ..., with a first line that has the numbers of tasks and edges", nil, parseCounted},
	{"stg", "the Standard Task Graph Set: one NUMBER TIME PREDECESSORS... a line", []string{".stg"}, parseSTG},
	{"wfcommons", "workflow instances of WfCommons, in JSON", []string{".json"}, parseWfCommons},
}

// Formats lists the formats, the most common first.
func Formats() []Format { return formats }

// Read returns the graph that src describes. name is the name of the file: it is part of
// errors, its base becomes the name of the graph, and its extension selects the format if o.Format is "". An error
// in the text is an *ir.Error with its position.
func Read(name, src string, o Options) (*ir.Graph, error) {
	f, err := formatOf(name, o.Format)
	if err != nil {
		return nil, err
	}
	if o.Unit < 0 || o.Cost < 0 {
		return nil, fmt.Errorf("options: cost %v and unit %v: both must be 0 or more", o.Cost, o.Unit)
	}
	if o.Unit == 0 {
		o.Unit = time.Microsecond
	}
	src = strings.TrimPrefix(src, "\ufeff") // the mark that editors on Windows begin a file with
	if strings.IndexByte(src, 0) >= 0 {
		return nil, &ir.Error{File: name, Line: 1, Col: 1, Msg: "there is a zero byte in it, as in UTF-16 or what is no text at all: write UTF-8"}
	}
	d := &draft{text: text{name, src}, options: o, index: map[string]int32{}}
	if err := f.parse(d); err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	return d.graph(strings.TrimSuffix(base, filepath.Ext(base)))
}

// formatOf returns the format with a name, or if that is "" the one of a file's extension.
func formatOf(file, name string) (*Format, error) {
	ext := strings.ToLower(filepath.Ext(file))
	names := make([]string, len(formats))
	for i := range formats {
		f := &formats[i]
		if name == f.Name {
			return f, nil
		}
		for _, e := range f.extensions {
			if name == "" && ext == e {
				return f, nil
			}
		}
		names[i] = f.Name
	}
	known := strings.Join(names, ", ")
	if name == "" {
		return nil, fmt.Errorf("%s: the extension %q is not that of a format: select one of %s", file, ext, known)
	}
	return nil, fmt.Errorf("unknown format %q: there are %s", name, known)
}

// text is a file with its name, for errors.
type text struct{ name, src string }

// errorf is a mistake at a byte offset.
func (t *text) errorf(at int, format string, args ...any) error {
	at = min(at, len(t.src))
	start := 1 + strings.LastIndexByte(t.src[:at], '\n')
	line, _, _ := strings.Cut(t.src[start:], "\n")
	return &ir.Error{
		File: t.name, Line: 1 + strings.Count(t.src[:at], "\n"), Col: 1 + at - start,
		Msg: fmt.Sprintf(format, args...), Source: strings.TrimSuffix(line, "\r"),
	}
}

// maxCost is the longest cost of a task, in nanoseconds: a hundred days.
const maxCost = 100 * 24 * 3600 * 1e9

// nanoseconds reads a cost: a number of units, or a duration such as 1.5us.
func (d *draft) nanoseconds(at int, s string) (int64, error) {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return d.cost(at, v*float64(d.options.Unit))
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return 0, d.errorf(at, "%q is no cost: write a number, or a duration such as 1.5us", s)
	}
	return d.cost(at, float64(v))
}

// cost is a cost in whole nanoseconds.
func (d *draft) cost(at int, ns float64) (int64, error) {
	if !(0 <= ns && ns <= maxCost) {
		return 0, d.errorf(at, "a cost must be from 0 to 100 days, and is %v ns", ns)
	}
	return int64(math.Round(ns)), nil
}
