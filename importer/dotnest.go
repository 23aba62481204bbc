package importer

import (
	"strconv"
	"strings"
)

// cuGraphDebugDotPrint writes the graph of a child node or of a conditional node as a cluster, without edges between
// the cluster and other nodes. The cluster runs when its node does. nest therefore adds a node for the end of the
// cluster and connects the cluster's first and last nodes:
//
//	before ─► node ─► after          before ─► node ─► in ─► out ─► node end ─► after
//	                           ==>
//	cluster { in ─► out }
//
// A label of NVIDIA's driver contains the name of the cluster, "graph_" and a number. The simulated driver derives the
// name of the cluster from that of the node.

// cluster is a block of statements.
type cluster struct {
	label string
	nodes []int32 // the nodes that occur first in this block
	in    *holder // nil if it belongs to no node
}

// holder is a node with clusters, and the node that was added for their end.
type holder struct{ start, end int32 }

// held returns the name of the cluster that a node's label refers to.
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

// nest connects clusters with their nodes, in O(tasks + arcs). Arcs from such a node then begin at its end.
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

// findHolders finds the node of each cluster, and adds a node for its end. The result is by index of the node.
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
			return nil, p.draft.errorf(0, "%s and %s both contain %s, and a cluster can belong to one node: write it twice", p.tasks[nodes[0]].name, p.tasks[nodes[1]].name, c.label)
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
