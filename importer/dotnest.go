package importer

import (
	"strconv"
	"strings"
)

// A driver writes a graph inside another as a cluster of its own, to which no edge leads. It
// runs where the node does that holds it:
//
//	before ─► node ─► after          before ─► node ─► in ─► out ─► node end ─► after
//	                           ==>
//	cluster { in ─► out }
//
// NVIDIA's labels the node with its number and the name of the cluster, which is graph_ and a
// number. The simulated one names the cluster after the node.

// cluster is a block of statements.
type cluster struct {
	label string
	nodes []int32 // that it is the first to name
	in    *holder // nil when it is in no node
}

// holder is a node that holds clusters, and what ends when they have.
type holder struct{ start, end int32 }

// held is the cluster that a node's label stands for.
func held(label string) (name string, ok bool) {
	words := strings.Fields(strings.ReplaceAll(label, `\n`, " "))
	if len(words) != 2 || !isNumber(words[0]) {
		return "", false
	}
	number, ok := strings.CutPrefix(words[1], "graph_")
	return words[1], ok && isNumber(number)
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// nest puts clusters where the nodes are that hold them.
func (p *dotParser) nest() error {
	holders, err := p.findHolders()
	if err != nil || len(holders) == 0 {
		return err
	}
	entered, left := make([]bool, len(p.tasks)), make([]bool, len(p.tasks))
	for i, a := range p.arcs {
		entered[a.to], left[a.from] = true, true
		if h := holders[a.from]; h != nil {
			p.arcs[i].from = h.end
		}
	}
	for _, c := range p.clusters {
		if c.in == nil {
			continue
		}
		for _, v := range c.nodes {
			if !entered[v] {
				p.arcs = append(p.arcs, arc{from: c.in.start, to: v})
			}
			if last := v; !left[v] {
				if h := holders[v]; h != nil {
					last = h.end
				}
				p.arcs = append(p.arcs, arc{from: last, to: c.in.end})
			}
		}
	}
	return nil
}

// findHolders finds the node that holds each cluster, and adds where that ends.
func (p *dotParser) findHolders() (map[int32]*holder, error) {
	holders := map[int32]*holder{}
	for _, c := range p.clusters {
		nodes := p.holds[c.label]
		if i := strings.LastIndex(c.label, "_graph_"); i > 0 && isNumber(c.label[i+len("_graph_"):]) {
			if v, ok := p.index[c.label[:i]]; ok {
				nodes = append(nodes, v)
			}
		}
		if len(nodes) == 0 || len(c.nodes) == 0 {
			continue
		}
		if len(nodes) > 1 {
			return nil, p.draft.errorf(0, "%s and %s both hold %s, which can be in one place: write it twice", p.tasks[nodes[0]].name, p.tasks[nodes[1]].name, c.label)
		}
		start := nodes[0]
		if holders[start] == nil {
			holders[start] = &holder{start, p.task(p.tasks[start].name + " end")}
			p.tasks[holders[start].end].cost = 0
		}
		c.in = holders[start]
	}
	return holders, nil
}
