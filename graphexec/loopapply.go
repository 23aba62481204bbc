package graphexec

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

// Apply makes changes for the runs that follow, all or none: see Exec.Apply. They are made in every iteration,
// wherever the loop is lowered to it, and the scalar that ends the loop is read where its buffer is then. Where a
// graph is a schedule of several iterations, which Several made, Grid and Enable are refused.
func (x *LoopExec) Apply(changes ...Change) error {
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	if err := x.resume(context.Background()); err != nil {
		return x.wrap(err)
	}
	plans, err := x.plan(changes)
	if err != nil {
		return err
	}
	for i, p := range plans {
		if err := p.exec.apply(p.planned, p.verdicts); err != nil {
			x.revert(plans[:i])
			return x.wrap(err)
		}
	}
	if err := x.follow(); err != nil {
		x.revert(plans)
		return x.wrap(err)
	}
	return nil
}

// Preflight says what Apply of the same changes would do, and does nothing.
func (x *LoopExec) Preflight(changes ...Change) ([]Verdict, error) {
	if x.closed() {
		return nil, errClosed
	}
	plans, err := x.plan(changes)
	if err != nil {
		return nil, err
	}
	all := plans[0].verdicts
	for _, p := range plans[1:] {
		for i, v := range p.verdicts {
			all[i].Operations += v.Operations
			if all[i].Rebuild == "" {
				all[i].Rebuild = v.Rebuild
			}
		}
	}
	return all, nil
}

// Pointer is the address that iterations have a buffer of the trace at: see Exec.Pointer.
func (x *LoopExec) Pointer(buffer string) (device.Ptr, error) {
	if x.closed() {
		return 0, errClosed
	}
	return x.body.Pointer(buffer)
}

// Set gives a scalar parameter another value: see Param.
func (x *LoopExec) Set(name string, value any) error { return x.Apply(Param(name, value)) }

// Rebind puts a buffer elsewhere: see the function.
func (x *LoopExec) Rebind(buffer string, at device.Ptr) error { return x.Apply(Rebind(buffer, at)) }

// Swap has two buffers change places: see the function.
func (x *LoopExec) Swap(a, b string) error { return x.Apply(Swap(a, b)) }

// loopPlan is what changes come to for one of the replays that iterations consist of.
type loopPlan struct {
	exec         *Exec
	planned, was *planned
	verdicts     []Verdict
}

// plan works out changes for all of them. The first is that of the body alone.
func (x *LoopExec) plan(changes []Change) (plans []loopPlan, err error) {
	if x.body == nil || x.body.impl == nil {
		return nil, errClosed
	}
	for _, exec := range x.execs() {
		p := loopPlan{exec: exec}
		if p.planned, p.verdicts, err = exec.plan(changes); err != nil {
			return nil, x.wrap(err)
		}
		p.was = exec.before(p.planned)
		plans = append(plans, p)
	}
	if err := x.until.written(plans[0].planned.isOff); err != nil {
		return nil, x.wrap(err)
	}
	return plans, nil
}

// execs are the replays that iterations consist of.
func (x *LoopExec) execs() []*Exec {
	if x.body == nil { // of a zero LoopExec
		return nil
	}
	all := []*Exec{x.body}
	for _, l := range x.lowerings() {
		if exec := l.bodies(); !slices.Contains(all, exec) {
			all = append(all, exec)
		}
	}
	return all
}

// follow has everything beside the bodies go where these have buffers by now.
func (x *LoopExec) follow() error {
	x.until.at = x.body.prog.settings.address(x.until.span())
	for _, l := range x.lowerings() {
		if err := l.follow(); err != nil {
			return err
		}
	}
	return nil
}

// revert takes changes back. What fails is not said: it would only repeat what failed before.
func (x *LoopExec) revert(plans []loopPlan) {
	for _, p := range slices.Backward(plans) {
		_ = p.exec.apply(p.was, p.verdicts)
	}
	_ = x.follow()
}
