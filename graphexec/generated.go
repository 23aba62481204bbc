package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// generated holds the modules that passes have added to a graph, which no trace has loaded.
type generated struct {
	first   ir.ModuleID // number of the first one in the graph
	modules []device.Module
}

// loadGenerated loads the last Graph.Generated modules of a graph. It returns nil if there are none.
func loadGenerated(dev device.Device, g *ir.Graph) (*generated, error) {
	if g.Generated == 0 {
		return nil, nil
	}
	l := &generated{first: ir.ModuleID(len(g.Modules) - g.Generated)}
	for _, m := range g.Modules[l.first:] {
		h, err := dev.LoadModule(m.File, m.Source)
		if err != nil {
			return nil, device.Join(fmt.Errorf("generated module %s: %w", m.Name, err), l.unload(dev))
		}
		l.modules = append(l.modules, h)
	}
	return l, nil
}

// module returns the handle of a generated module, and false for any other.
func (l *generated) module(m ir.ModuleID) (device.Module, bool) {
	if l == nil || m < l.first || int(m-l.first) >= len(l.modules) {
		return 0, false
	}
	return l.modules[m-l.first], true
}

func (l *generated) unload(dev device.Device) error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, m := range l.modules {
		errs = append(errs, dev.UnloadModule(m))
	}
	l.modules = nil
	return device.Join(errs...)
}
