package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/heap"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// merge makes one launch of several independent launches, where the predicted replay gets shorter:
//
//	copy x ─► square x ─┐               copy x ─┐
//	                    ├─► sum   ==>           ├─► square x, y ─► sum
//	copy y ─► square y ─┘               copy y ─┘
//
// A graph with fewer nodes takes the host less time to launch, joins of lanes become chains, and blocks of
// all parts share their waves. On the other hand, all parts wait for the last predecessor of any part, and successors
// of one part wait for all.
//
// The candidates are sets of launches with equal distance from the start or from the end, in operations. A launch
// qualifies unless its cost is declared, since the cost of several together would be unknown, or its kernel cannot be
// rewritten (see mergedCode). The search (see mergeSearch) predicts plans with the given strategy. The resulting plan
// is never predicted to take longer than the plan without merging. The bodies of loops and branches are merged first, as
// programs of their own (see planBodies). They have the modules of the graph around them.
//
// The kernels are rewritten in PTX (package rewrite). Their modules are at the end of Modules, and graphexec loads
// them. Arguments stay arguments, so that parameters can be set and buffers rebound.
func merge(g *ir.Graph, opts *Options) (*ir.Graph, error) {
	if !opts.names("merge") && (g.Phase >= ir.Analyzed || g.Len() > maxMergedByAuto) {
		return g, nil
	}
	if g.Phase >= ir.Analyzed {
		return nil, fmt.Errorf("%s already has dependencies, and those of merged launches would be unknown: merge the trace instead", g.Name)
	}
	classes := classesOf(g)
	if len(classes) < 2 {
		return g, nil
	}
	a, err := hazards(g)
	if err != nil {
		return nil, err
	}
	code := newMergedCode(g)
	sets := code.qualified(candidateSets(a, classes))
	if len(sets) == 0 {
		return a, nil
	}
	if best := newMergeSearch(a, opts, code).run(sets); best != nil {
		shareModules(best)
		return best, nil
	}
	return a, nil
}

// maxMergedByAuto is the largest number of operations for which strategy auto merges launches by itself. It then plans
// the graph three times.
const maxMergedByAuto = 2000

// mergeSet is a set of launches that may become one: ids in the graph, ascending.
type mergeSet []ir.OpID

// mergeClass has the launches of a graph that differ in their arguments and grids only.
type mergeClass struct {
	module ir.ModuleID
	entry  string
	block  ir.Dim3
	shared uint32
}

func classOf(l *ir.Launch) mergeClass { return mergeClass{l.Module, l.Entry, l.Block, l.Shared} }

// classesOf returns the class of each launch of a module with source, without a declared cost.
func classesOf(g *ir.Graph) map[ir.OpID]mergeClass {
	classes := map[ir.OpID]mergeClass{}
	for v := range g.Ops {
		if op := &g.Ops[v]; op.Kind == ir.KindLaunch && op.Cost < 0 && g.Modules[op.Launch.Module].Source != "" {
			classes[ir.OpID(v)] = classOf(op.Launch)
		}
	}
	return classes
}

// candidateSets returns the sets of at least two launches with equal distance from the start or to the end. Such
// launches are independent. Sets of one class come first, then sets of all classes. Sets may overlap.
func candidateSets(a *ir.Graph, classes map[ir.OpID]mergeClass) []mergeSet {
	var alike, mixed setsByKey[distanceOfClass]
	for end, distance := range [][]int32{fromStart(a), toEnd(a)} {
		for v := range a.Ops {
			if class, ok := classes[ir.OpID(v)]; ok {
				at := distanceOfClass{end == 1, distance[v], class}
				alike.add(at, ir.OpID(v))
				at.mergeClass = mergeClass{}
				mixed.add(at, ir.OpID(v))
			}
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Concat(alike.sets, mixed.sets), func(s mergeSet) bool {
		text := fmt.Sprint(s)
		again := seen[text]
		seen[text] = true
		return again || len(s) < 2
	})
}

// distanceOfClass is a distance from the start or to the end, and a class or the zero class for all.
type distanceOfClass struct {
	toEnd    bool
	distance int32
	mergeClass
}

// setsByKey collects launches with equal keys, in the order of their first launches.
type setsByKey[K comparable] struct {
	at   map[K]int // index in sets
	sets []mergeSet
}

func (s *setsByKey[K]) add(key K, v ir.OpID) {
	if s.at == nil {
		s.at = map[K]int{}
	}
	i, ok := s.at[key]
	if !ok {
		i = len(s.sets)
		s.at[key], s.sets = i, append(s.sets, nil)
	}
	s.sets[i] = append(s.sets[i], v)
}

// fromStart returns, by operation, the length of the longest path to it, in operations.
func fromStart(g *ir.Graph) []int32 {
	level := make([]int32, g.Len())
	for v := range g.Ops {
		for _, d := range g.DepsInto(ir.OpID(v)) {
			level[v] = max(level[v], level[d.From]+1)
		}
	}
	return level
}

// toEnd returns, by operation, the length of the longest path from it to any last operation.
func toEnd(g *ir.Graph) []int32 {
	level := make([]int32, g.Len())
	for v := range slices.Backward(g.Ops) {
		for _, w := range g.Succs(ir.OpID(v)) {
			level[v] = max(level[v], level[w]+1)
		}
	}
	return level
}

// disjoint reports whether no launch of a set is in another of the sets.
func (s mergeSet) disjoint(sets []mergeSet) bool {
	for _, o := range sets {
		if slices.ContainsFunc(s, func(v ir.OpID) bool { return slices.Contains(o, v) }) {
			return false
		}
	}
	return true
}

// contracted returns the program order of the analyzed graph a in which each set is one operation, as lists of
// operations. It is the order of a as far as the dependencies of the sets allow: the next operation is the earliest
// that is ready. It returns nil if the sets depend on each other.
func contracted(a *ir.Graph, sets []mergeSet) [][]ir.OpID {
	node := make([]int32, a.Len()) // by operation: its node, which is the first operation of its set
	parts := make([][]ir.OpID, a.Len())
	for v := range node {
		node[v], parts[v] = int32(v), []ir.OpID{ir.OpID(v)}
	}
	for _, set := range sets {
		for _, v := range set[1:] {
			node[v], parts[v] = int32(set[0]), nil
		}
		parts[set[0]] = set
	}
	waits := make([]int32, a.Len()) // by node: its dependencies that have not been ordered
	for _, d := range a.Deps() {
		if node[d.From] == node[d.To] {
			return nil
		}
		waits[node[d.To]]++
	}
	var ready heap.Heap[heap.Entry[int32]]
	for v := range parts {
		if parts[v] != nil && waits[v] == 0 {
			ready.Push(heap.Entry[int32]{Key: int32(v), ID: int32(v)})
		}
	}
	order := make([][]ir.OpID, 0, a.Len())
	done := 0
	for len(ready) > 0 {
		next := ready.Pop().ID
		order = append(order, parts[next])
		done += len(parts[next])
		for _, u := range parts[next] {
			for _, w := range a.Succs(u) {
				if n := node[w]; waits[n] > 1 {
					waits[n]--
				} else {
					waits[n] = 0
					ready.Push(heap.Entry[int32]{Key: n, ID: n})
				}
			}
		}
	}
	if done < a.Len() {
		return nil
	}
	return order
}

// withMerged returns a as a trace in which each of the disjoint sets is one launch. It returns nil if the sets
// depend on each other, or if a set cannot be rewritten.
func withMerged(a *ir.Graph, code *mergedCode, sets []mergeSet) *ir.Graph {
	order := contracted(a, sets)
	if order == nil {
		return nil
	}
	h, err := a.WithDeps(ir.Traced, nil, nil)
	if err != nil {
		panic("BUG: a graph without dependencies: " + err.Error())
	}
	h.Modules, h.Merged = slices.Clone(a.Modules), map[ir.OpID][]mergedPart{}
	h.Ops, h.Origin, h.Recorded = make([]ir.Op, 0, len(order)), make([]ir.OpID, 0, len(order)), recorded(a)
	names := newModuleNames(h)
	at := make([]ir.OpID, a.Len()) // by operation of a: its id in h
	for _, parts := range order {
		id := ir.OpID(len(h.Ops))
		for _, v := range parts {
			at[v] = id
		}
		op := a.Ops[parts[0]]
		if len(parts) > 1 {
			made := code.rewritten(parts)
			if made == nil {
				return nil
			}
			op = made.launch(a, parts, names.module(made))
			h.Merged[id] = code.partsOf(a, parts)
		}
		op.After = nil
		for _, v := range parts {
			for _, u := range a.Ops[v].After {
				op.After = append(op.After, at[u])
			}
		}
		slices.Sort(op.After)
		op.After = slices.Compact(op.After)
		h.Ops, h.Origin = append(h.Ops, op), append(h.Origin, traced.Origin(a, parts[0]))
	}
	return h
}

// mergedPart is an element of ir.Graph.Merged.
type mergedPart = struct {
	Op       ir.OpID
	Launch   *ir.Launch
	Barriers int
}

// partsOf returns the parts of a merged launch.
func (c *mergedCode) partsOf(a *ir.Graph, set []ir.OpID) []mergedPart {
	parts := make([]mergedPart, len(set))
	for i, v := range set {
		l := a.Ops[v].Launch
		parts[i] = mergedPart{Op: traced.Origin(a, v), Launch: l, Barriers: c.barriers(l)}
	}
	return parts
}

// usesOf returns the accesses of all operations of a set, without duplicates.
func usesOf(a *ir.Graph, set []ir.OpID) (all []ir.Access) {
	seen := map[ir.Access]bool{}
	for _, v := range set {
		for _, u := range a.Ops[v].Uses {
			if !seen[u] {
				seen[u] = true
				all = append(all, u)
			}
		}
	}
	return all
}
