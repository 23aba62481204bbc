package graphexec

import (
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

func (x *Exec) findParam(name string) (ir.ParamID, error) {
	params := x.prog.sched.Graph.Params
	if i := slices.IndexFunc(params, func(p ir.Param) bool { return p.Name == name }); i >= 0 {
		return ir.ParamID(i), nil
	}
	if len(params) == 0 {
		return 0, sentinel.Errorf(sentinel.ErrUnknown, "no parameter $%s: the trace declares none; declare it with Tracer.Param", name)
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = "$" + p.Name
	}
	return 0, sentinel.Errorf(sentinel.ErrUnknown, "no parameter $%s: the trace declares %s", name, strings.Join(names, ", "))
}
