package graphexec

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

func (x *Exec) findParam(name string) (ir.ParamID, error) {
	g := x.prog.sched.Graph
	if id, ok := g.ParamByName(name); ok {
		return id, nil
	}
	params := g.Params
	if len(params) == 0 {
		return 0, fmt.Errorf("no parameter $%s: the trace declares none", name)
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = "$" + p.Name
	}
	return 0, fmt.Errorf("no parameter $%s: the trace declares %s", name, strings.Join(names, ", "))
}
