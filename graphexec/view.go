package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

func init() { parts.Open = func(exec any) parts.Replays { return view{exec.(*Exec)} } }

// view implements parts.Replays, the access of package loop to an Exec. See that interface for what
// the methods return.
type view struct{ x *Exec }

func (v view) Closed() bool { return v.x.closed() }

func (v view) Stale() error { return v.x.stale() }

func (v view) Moves() bool { return slices.ContainsFunc(v.x.prog.work, moves) }

func (v view) Address(id ir.BufferID) device.Ptr { return v.x.prog.settings.pointer[id] }

func (v view) Changes() (updates, rebuilds int) { return v.x.stats.Updates, v.x.stats.Rebuilds }

func (v view) Rounds(o parts.RoundsOptions) (parts.Rounds, error) {
	r, err := newRounds(v.x, o)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (v view) Plan(changes any) (parts.Plan, error) {
	p := &viewPlan{x: v.x}
	var err error
	if p.planned, p.verdicts, err = v.x.plan(changes.([]Change)); err != nil {
		return nil, err
	}
	p.was = v.x.before(p.planned)
	return p, nil
}

// viewPlan implements parts.Plan: planned changes of an Exec, and the plan that undoes them.
type viewPlan struct {
	x            *Exec
	planned, was *planned
	verdicts     []Verdict
}

func (p *viewPlan) Verdicts() any { return p.verdicts }

func (p *viewPlan) IsOff(op ir.OpID) bool { return p.planned.isOff(op) }

func (p *viewPlan) Apply() error { return p.x.apply(p.planned, p.verdicts) }

func (p *viewPlan) Revert() { _ = p.x.apply(p.was, p.verdicts) }
