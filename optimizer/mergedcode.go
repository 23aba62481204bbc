package optimizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/ir"
)

// mergedCode rewrites kernels of a graph so that one launch runs several. It keeps what it has parsed and rewritten.
//
// Launches are merged only if
//
//   - package rewrite accepts the kernel;
//   - no kernel of the module writes the variables that the kernel uses, because a generated module has copies of them;
//   - the arguments fit the parameters.
type mergedCode struct {
	sources
	single map[mergeClass]bool         // whether launches of a class can be merged
	made   map[string]*rewrittenKernel // by key; nil for a set that cannot be rewritten
}

func newMergedCode(g *ir.Graph) *mergedCode {
	return &mergedCode{newSources(g), map[mergeClass]bool{}, map[string]*rewrittenKernel{}}
}

// rewrittenKernel is a rewritten kernel.
type rewrittenKernel struct {
	*rewrite.Result
	name string // of its module, if no other module has it
}

// qualified returns the sets with the launches that can be merged, as far as two or more remain.
func (c *mergedCode) qualified(sets []mergeSet) (kept []mergeSet) {
	for _, set := range sets {
		set = slices.DeleteFunc(slices.Clone(set), func(v ir.OpID) bool { return !c.rewritable(c.g.Ops[v].Launch) })
		if len(set) > 1 && !slices.ContainsFunc(kept, func(k mergeSet) bool { return slices.Equal(k, set) }) {
			kept = append(kept, set)
		}
	}
	return kept
}

// rewritable reports whether a kernel can be rewritten, and whether the arguments of a launch fit its parameters.
func (c *mergedCode) rewritable(l *ir.Launch) bool {
	if !c.fit(l) {
		return false
	}
	class := classOf(l)
	can, ok := c.single[class]
	if !ok {
		r, err := rewrite.Fuse([]rewrite.Part{c.part(l)})
		can = err == nil && r.Changing() == nil
		c.single[class] = can
	}
	return can
}

// barriers returns the number of barriers of all threads of a block in the code of a kernel. Those in loops count once.
func (c *mergedCode) barriers(l *ir.Launch) (n int) {
	for i := range c.module(l.Module).Func(l.Entry).Body {
		in := &c.module(l.Module).Func(l.Entry).Body[i]
		if (in.Name == "bar" || in.Name == "barrier") && !slices.Contains(in.Suffix, "warp") {
			n++
		}
	}
	return n
}

// part returns a launch for package rewrite.
func (c *mergedCode) part(l *ir.Launch) rewrite.Part {
	return rewrite.Part{Module: c.module(l.Module), Kernel: l.Entry, Grid: extents(l.Grid), Block: extents(l.Block), Shared: l.Shared}
}

// maxFused is the largest number of launches of different kernels that are merged: their code is repeated in the kernel.
const maxFused = 8

// rewritten returns the kernel that runs a set of launches, or nil if there is none. It is nil if the parameters would
// exceed the limit, and if package rewrite refuses the kernels together.
func (c *mergedCode) rewritten(set []ir.OpID) *rewrittenKernel {
	first := c.g.Ops[set[0]].Launch
	if slices.ContainsFunc(set, func(v ir.OpID) bool { return classOf(c.g.Ops[v].Launch) != classOf(first) }) {
		return c.fused(set)
	}
	return c.batched(set, first)
}

// batched rewrites launches of one class, the first of which is l.
func (c *mergedCode) batched(set []ir.OpID, l *ir.Launch) *rewrittenKernel {
	o := rewrite.BatchOptions{Instances: len(set), Equal: make([]bool, len(l.Args)), Grid: extents(l.Grid)}
	for i := range l.Args {
		o.Equal[i] = !slices.ContainsFunc(set, func(v ir.OpID) bool { return c.g.Ops[v].Launch.Args[i] != l.Args[i] })
	}
	if slices.ContainsFunc(set, func(v ir.OpID) bool { return c.g.Ops[v].Launch.Grid != l.Grid }) {
		for _, v := range set {
			o.Grids = append(o.Grids, extents(c.g.Ops[v].Launch.Grid))
		}
	}
	name := fmt.Sprintf("%s_x%d", c.g.Modules[l.Module].Name, len(set))
	return c.once(fmt.Sprintf("%v %v", classOf(l), o), name, func() (*rewrite.Result, error) {
		r, err := rewrite.Batch(c.module(l.Module), l.Entry, o)
		if err == nil {
			r.Block, r.Shared = extents(l.Block), l.Shared
		}
		return r, err
	})
}

// fused rewrites launches of different classes.
func (c *mergedCode) fused(set []ir.OpID) *rewrittenKernel {
	if len(set) > maxFused {
		return nil
	}
	parts, key := make([]rewrite.Part, len(set)), ""
	for i, v := range set {
		l := c.g.Ops[v].Launch
		parts[i] = c.part(l)
		key += fmt.Sprintf("%v %v ", classOf(l), l.Grid)
	}
	name := func(i int) string { return c.g.Modules[c.g.Ops[set[i]].Launch.Module].Name }
	both := name(0) + "_and_" + name(1)
	if len(set) > 2 {
		both = fmt.Sprintf("%s_and_%d_more", name(0), len(set)-1)
	}
	return c.once(key, both, func() (*rewrite.Result, error) { return rewrite.Fuse(parts) })
}

// once rewrites what a key describes, or returns the earlier result.
func (c *mergedCode) once(key, name string, rewriting func() (*rewrite.Result, error)) *rewrittenKernel {
	made, ok := c.made[key]
	if !ok {
		if r, err := rewriting(); err == nil {
			made = &rewrittenKernel{r, name}
		}
		c.made[key] = made
	}
	return made
}

func extents(d ir.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

func dim3(n [3]uint32) ir.Dim3 { return ir.Dim3{X: n[0], Y: n[1], Z: n[2]} }

// launch returns the operation that runs a set of launches of a as one, with the code in a module. Its position is
// that of the first, and its label names all.
func (k *rewrittenKernel) launch(a *ir.Graph, set []ir.OpID, module ir.ModuleID) ir.Op {
	op := a.Ops[set[0]]
	l := *op.Launch
	l.Module, l.Entry = module, k.Kernel
	l.Grid, l.Block, l.Shared = dim3(k.Grid), dim3(k.Block), k.Shared
	l.Args = make([]ir.Arg, len(k.Params))
	for i, from := range k.Params {
		l.Args[i] = a.Ops[set[max(from.Part, 0)]].Launch.Args[from.Param]
	}
	l.Maps = nil // they are of the blocks of one launch
	op.Launch, op.Uses, op.Label = &l, usesOf(a, set), labelOf(a, set)
	return op
}

// maxLabels is the largest number of parts that the label of a merged launch names one by one.
const maxLabels = 4

// labelOf returns the label of a merged launch: the labels or kernels of the parts, or their number.
func labelOf(a *ir.Graph, set []ir.OpID) string {
	var names []string
	for _, v := range set {
		name := a.Ops[v].Label
		if name == "" {
			name = a.Ops[v].Launch.Entry
		}
		names = append(names, name)
	}
	if first := names[0]; !slices.ContainsFunc(names, func(n string) bool { return n != first }) {
		return fmt.Sprintf("%d x %s", len(names), first)
	}
	if more := len(names) - maxLabels; more > 1 {
		names = append(names[:maxLabels], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, " + ")
}
