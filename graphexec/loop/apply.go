package loop

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// Apply makes changes for the runs that follow, all or none: see graphexec.Exec.Apply. It makes them in every iteration
// of every graph of the loop. If the buffer of the scalar is rebound, checks read it at the new address. Apply refuses
// Grid and Enable if Several made a schedule of several iterations.
func (x *Exec) Apply(changes ...graphexec.Change) error {
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
		if err := p.Apply(); err != nil {
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

// Preflight reports what Apply of the same changes would do. It changes nothing.
func (x *Exec) Preflight(changes ...graphexec.Change) ([]graphexec.Verdict, error) {
	if x.closed() {
		return nil, errClosed
	}
	plans, err := x.plan(changes)
	if err != nil {
		return nil, err
	}
	all := plans[0].Verdicts().([]graphexec.Verdict)
	for _, p := range plans[1:] {
		for i, v := range p.Verdicts().([]graphexec.Verdict) {
			all[i].Operations += v.Operations
			if all[i].Rebuild == "" {
				all[i].Rebuild = v.Rebuild
			}
		}
	}
	return all, nil
}

// Pointer returns the address at which iterations access a buffer of the trace: see graphexec.Exec.Pointer.
func (x *Exec) Pointer(buffer string) (device.Ptr, error) {
	if x.closed() {
		return 0, errClosed
	}
	return x.body.Pointer(buffer)
}

// Set sets a scalar parameter: see graphexec.Param.
func (x *Exec) Set(name string, value any) error { return x.Apply(graphexec.Param(name, value)) }

// plan works out changes for all replays that iterations consist of. The first is that of the body alone.
func (x *Exec) plan(changes []graphexec.Change) (plans []parts.Plan, err error) {
	if x.closed() {
		return nil, errClosed
	}
	for _, r := range x.replays() {
		p, err := r.Plan(changes)
		if err != nil {
			return nil, x.wrap(err)
		}
		plans = append(plans, p)
	}
	if err := x.until.written(plans[0].IsOff); err != nil {
		return nil, x.wrap(err)
	}
	return plans, nil
}

// replays returns the replays of which iterations consist, the body first.
func (x *Exec) replays() []parts.Replays {
	if x.body == nil { // of a zero Exec
		return nil
	}
	all := []parts.Replays{x.view}
	for _, l := range x.lowerings() {
		if r := l.bodies(); !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// address returns the address at which iterations access a range of bytes.
func (x *Exec) address(r ir.Range) device.Ptr { return x.view.Address(r.Buffer) + device.Ptr(r.Lo) }

// follow moves everything except the bodies to the current addresses of the buffers.
func (x *Exec) follow() error {
	x.until.at = x.address(x.until.span())
	for _, l := range x.lowerings() {
		if err := l.follow(); err != nil {
			return err
		}
	}
	return nil
}

// revert undoes changes. Its errors are dropped, since they would repeat what failed before.
func (x *Exec) revert(plans []parts.Plan) {
	for _, p := range slices.Backward(plans) {
		p.Revert()
	}
	_ = x.follow()
}
