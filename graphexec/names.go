package graphexec

import (
	"github.com/reprise-gpu/reprise/internal/names"
	"github.com/reprise-gpu/reprise/ir"
)

func init() {
	names.Of = func(exec any) map[string]names.Place { return exec.(*Exec).prog.names() }
}

// names returns the operations of p and its bodies by the labels of their work.
func (p *program) names() map[string]names.Place {
	all := map[string]names.Place{}
	for _, q := range p.programs() {
		for v := range q.work {
			all[q.label(ir.OpID(v))] = names.Place{Schedule: q.sched, Op: ir.OpID(v), Name: q.opNames().Of(ir.OpID(v)), Path: q.numbers(), Body: q.path()}
		}
	}
	return all
}
