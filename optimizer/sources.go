package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/ir"
)

// sources holds the parsed modules of a graph, for passes that rewrite kernels.
type sources struct {
	g       *ir.Graph
	modules map[ir.ModuleID]*ptx.Module // nil for a module without valid source
}

func newSources(g *ir.Graph) sources { return sources{g, map[ir.ModuleID]*ptx.Module{}} }

// module returns the parsed source of a module, or nil.
func (c *sources) module(id ir.ModuleID) *ptx.Module {
	m, ok := c.modules[id]
	if !ok {
		m, _ = ptx.ParseShared(c.g.Modules[id].File, c.g.Modules[id].Source)
	}
	c.modules[id] = m
	return m
}

// fit reports whether the source of a kernel is known and the arguments of a launch fit its parameters.
func (c *sources) fit(l *ir.Launch) bool {
	m := c.module(l.Module)
	if m == nil {
		return false
	}
	f := m.Func(l.Entry)
	if f == nil || len(f.Params) != len(l.Args) {
		return false
	}
	for i := range l.Args {
		if f.Params[i].Size() != c.size(&l.Args[i]) {
			return false
		}
	}
	return true
}

// size returns the bytes of an argument.
func (c *sources) size(a *ir.Arg) int64 {
	switch a.Kind {
	case ir.ArgScalar:
		return a.Scalar.Type.Size()
	case ir.ArgParam:
		return c.g.Params[a.Param].Value.Type.Size()
	}
	return ir.U64.Size()
}

// moduleNames adds generated modules to a graph.
type moduleNames struct {
	g     *ir.Graph
	taken map[string]bool        // names and files
	ids   map[string]ir.ModuleID // of generated modules, by text
}

func newModuleNames(g *ir.Graph) *moduleNames {
	n := &moduleNames{g: g, taken: map[string]bool{}, ids: map[string]ir.ModuleID{}}
	for i, m := range g.Modules {
		n.taken[m.Name], n.taken[m.File] = true, true
		if i >= len(g.Modules)-g.Generated { // for a body, or by a pass before
			n.ids[m.Source] = ir.ModuleID(i)
		}
	}
	return n
}

// module returns the module of a rewritten kernel in the graph. Kernels of equal text share one.
func (n *moduleNames) module(k *rewrittenKernel) ir.ModuleID {
	if id, ok := n.ids[k.Text]; ok {
		return id
	}
	name := k.name
	for i := 2; n.taken[name] || n.taken[name+".ptx"]; i++ {
		name = fmt.Sprintf("%s_%d", k.name, i)
	}
	n.taken[name], n.taken[name+".ptx"] = true, true
	id := ir.ModuleID(len(n.g.Modules))
	n.g.Modules = append(n.g.Modules, ir.Module{Name: name, File: name + ".ptx", Source: k.Text})
	n.g.Generated++
	n.ids[k.Text] = id
	return id
}
