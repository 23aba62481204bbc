package importer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// parseDOT reads a directed graph in Graphviz's language (https://graphviz.org/doc/info/lang.html). It accepts the
// whole language, including subgraphs as ends of edges, defaults, ports, and all three kinds of comments. Two
// attributes of nodes are used: cost, and label, which becomes the label of the operation. All others are skipped.
// Each attribute must have a value.
//
// It is a recursive descent parser, linear in the length of the text plus the number of edges. An identifier at the
// start of a statement may begin a node, an edge or an attribute, so its node is made only after the next token.
//
// Gonum's formats/dot is not used. It refuses strings joined by + (the first text of testdata/read/dot
// has one), empty statements, a comment at the end of the text, and bytes that are not UTF-8. Its syntax tree has
// no positions, which errors about costs and cycles need. TestGonumDoesNotReadAllOfDOT checks that this is still so.
func parseDOT(d *draft) error {
	p := &dotParser{dotScanner: dotScanner{text: &d.text}, draft: d, holds: map[string][]int32{}}
	err := p.file()
	if p.failed != nil {
		return p.failed
	}
	if err != nil {
		return err
	}
	return p.nest()
}

type dotParser struct {
	dotScanner
	*draft
	depth    int
	products int // edges between subgraphs so far

	clusters []*cluster
	open     *cluster           // the innermost block
	holds    map[string][]int32 // by name of a cluster: the nodes whose labels contain it
}

// attributes are the attributes of a node that are used.
type attributes struct {
	cost  int64 // ns; negative if there is none
	label string
}

// maxProducts bounds the edges that result from edges between two subgraphs. Such an edge stands
// for all edges between their nodes, so a short text could otherwise exhaust the memory.
const maxProducts = 1 << 20

// maxDepth bounds the nesting of subgraphs.
const maxDepth = 1000

func (p *dotParser) file() error {
	p.next()
	p.keyword("strict")
	if p.tok.is("graph") {
		return p.unexpected("digraph: the edges of a graph have no direction")
	}
	if !p.keyword("digraph") {
		return p.unexpected("digraph")
	}
	if p.tok.kind == tokenID {
		p.next()
	}
	if _, err := p.block(attributes{cost: -1}); err != nil {
		return err
	}
	if p.tok.kind != tokenEnd {
		return p.unexpected("the end of the file")
	}
	return nil
}

// block reads statements in braces. It returns the nodes that they name.
func (p *dotParser) block(defaults attributes) (nodes []int32, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.draft.errorf(p.tok.at, "subgraphs are nested more than %d deep", maxDepth)
	}
	outer := p.open
	p.open = &cluster{}
	p.clusters = append(p.clusters, p.open)
	defer func() { p.depth, p.open = p.depth-1, outer }()
	if !p.punctuation("{") {
		return nil, p.unexpected("{")
	}
	for !p.punctuation("}") {
		if p.punctuation(";") {
			continue
		}
		named, err := p.statement(&defaults)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, named...)
	}
	return unique(nodes), nil
}

// unique removes duplicates and keeps the order of first occurrences.
func unique(nodes []int32) []int32 {
	seen := make(map[int32]bool, len(nodes))
	kept := nodes[:0]
	for _, n := range nodes {
		if !seen[n] {
			seen[n] = true
			kept = append(kept, n)
		}
	}
	return kept
}

func (p *dotParser) statement(defaults *attributes) ([]int32, error) {
	switch {
	case p.keyword("node"):
		return nil, p.lists(defaults)
	case p.keyword("graph"), p.keyword("edge"):
		return nil, p.lists(new(attributes))
	}
	at := p.tok.at
	e, err := p.end(defaults)
	if err != nil {
		return nil, err
	}
	if !e.group && p.punctuation("=") {
		if e.name == "label" {
			p.open.label = p.tok.text
		}
		return nil, p.value()
	}
	nodes := p.named(e, defaults)
	if p.tok.kind == tokenPunctuation && p.tok.text == "->" {
		return p.edges(nodes, at, defaults)
	}
	if e.group {
		return nodes, nil
	}
	own := attributes{cost: -1}
	if err := p.lists(&own); err != nil {
		return nil, err
	}
	p.apply(nodes[0], own)
	return nodes, nil
}

// edges reads the rest of an edge statement after its first end.
func (p *dotParser) edges(from []int32, at int, defaults *attributes) ([]int32, error) {
	all := slices.Clone(from)
	for p.punctuation("->") {
		toAt := p.tok.at
		e, err := p.end(defaults)
		if err != nil {
			return nil, err
		}
		to := p.named(e, defaults)
		if len(from) > 1 && len(to) > 1 {
			if p.products += len(from) * len(to); p.products > maxProducts {
				return nil, p.draft.errorf(at, "edges between subgraphs stand for more than %d edges", maxProducts)
			}
		}
		for _, u := range from {
			for _, v := range to {
				if err := p.arc(u, v, at); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, to...)
		from, at = to, toAt
	}
	return all, p.lists(new(attributes))
}

// end is an end of an edge: a node or the nodes of a subgraph. The meaning of a single identifier depends on
// the next token, so its node is not made yet.
type end struct {
	name  string
	group bool
	nodes []int32 // of a group
}

func (p *dotParser) end(defaults *attributes) (e end, err error) {
	if p.keyword("subgraph") {
		e.group = true
		if p.tok.kind == tokenID {
			p.next()
		}
	}
	if e.group || p.tok.kind == tokenPunctuation && p.tok.text == "{" {
		e.group = true
		e.nodes, err = p.block(*defaults)
		return e, err
	}
	if p.tok.kind != tokenID {
		return e, p.unexpected("a node")
	}
	e.name = p.tok.text
	p.next()
	for p.punctuation(":") { // a port and a compass point
		if err := p.value(); err != nil {
			return e, err
		}
	}
	return e, nil
}

// named returns the nodes of an end. A new node gets the defaults of its scope.
func (p *dotParser) named(e end, defaults *attributes) []int32 {
	if e.group {
		return e.nodes
	}
	_, known := p.index[e.name]
	i := p.task(e.name)
	if !known {
		p.open.nodes = append(p.open.nodes, i)
		p.apply(i, *defaults)
	}
	return []int32{i}
}

func (p *dotParser) apply(i int32, a attributes) {
	if a.cost >= 0 {
		p.tasks[i].cost = a.cost
	}
	if name, ok := held(a.label); ok {
		p.holds[name] = append(p.holds[name], i)
	}
	if a.label != "" {
		p.tasks[i].label = plain(strings.ReplaceAll(a.label, `\N`, p.tasks[i].name))
	}
}

// value skips an identifier.
func (p *dotParser) value() error {
	if p.tok.kind != tokenID {
		return p.unexpected("an identifier")
	}
	p.next()
	return nil
}

// lists reads the lists of attributes in brackets, if any.
func (p *dotParser) lists(a *attributes) error {
	for p.punctuation("[") {
		for !p.punctuation("]") {
			if err := p.attribute(a); err != nil {
				return err
			}
			if !p.punctuation(",") {
				p.punctuation(";")
			}
		}
	}
	return nil
}

func (p *dotParser) attribute(a *attributes) (err error) {
	name := p.tok.text
	if err := p.value(); err != nil {
		return err
	}
	if !p.punctuation("=") {
		return p.unexpected("= and the value of " + name)
	}
	v := p.tok
	if err := p.value(); err != nil {
		return err
	}
	switch name {
	case "cost":
		a.cost, err = p.nanoseconds(v.at, v.text)
	case "label":
		a.label = v.text
	}
	return err
}

// driverRecord matches the start of a label that cuGraphDebugDotPrint writes with verbose flags: the kind of the node
// [1], its number, and for a kernel its name [2].
var driverRecord = regexp.MustCompile(`^\{\s*([A-Z_ ]+?)\s*\|\s*\{+ID \|(?: \d+ \(topoId: \d+\) \| ([^|}]+))?`)

// plain returns a label as one line. The fields of a record and the lines of a text become
// words, and escapes are replaced by their characters. Of a driver's record it returns only the kernel's name or the
// kind of the node. A label ends before the first address, because addresses differ from run to run.
func plain(label string) string {
	if m := driverRecord.FindStringSubmatch(label); m != nil {
		label = cmp.Or(m[2], m[1])
	}
	r := strings.NewReplacer(`\n`, " ", `\l`, " ", `\r`, " ", `\{`, "{", `\}`, "}", `\|`, "|", `\<`, "<", `\>`, ">", `\\`, `\`,
		"{", " ", "}", " ", "|", " ")
	words := strings.Fields(r.Replace(label))
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "0x") }); i > 0 {
		words = words[:i]
	}
	return strings.Join(words, " ")
}
