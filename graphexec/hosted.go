package graphexec

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// hosted is the back end of schedules with loops or branches on a device without conditional nodes.
// The operations run in submission order on one stream. The host reads the scalar of each loop and
// branch, so a replay returns only after the last of them has ended.
//
//	list of operations ─► loop: run body, copy scalar, wait, compare ─► list ─► branch: …
type hosted struct {
	dev    device.Device
	prog   *program
	why    error // why the device does not decide
	stream device.Stream
	mail   parts.Mailbox // receives the scalar of a loop or branch, at most 8 bytes
	steps
}

// steps are the parts of a program in submission order.
type steps []step

// step is a list of operations without control flow (of is nil), or one loop or branch (list is empty).
type step struct {
	list parts.Commands
	ops  []ir.OpID // the operations of list, numbered in the whole program

	of    *ir.Control
	op    ir.OpID // the loop or branch, numbered in the whole program
	off   bool    // the loop or branch is disabled
	name  string
	test  until.Test
	look  *device.Copy // copies the scalar to the mailbox
	inner []steps      // the bodies
}

// newHosted makes the back end. why is the error of the device that has no conditional nodes.
func newHosted(dev device.Device, p *program, why error) (_ *hosted, err error) {
	h := &hosted{dev: dev, prog: p, why: why}
	defer func() {
		if err != nil {
			err = device.Join(err, h.close())
		}
	}()
	if h.stream, err = dev.CreateStream(0); err != nil {
		return nil, err
	}
	if h.mail, err = parts.NewMailbox(dev, 8); err != nil {
		return nil, err
	}
	h.steps, err = h.build(p)
	return h, err
}

// build lowers a program to steps: each maximal run of operations without control flow becomes one
// command list. On an error it returns the steps created so far as well, for close.
func (h *hosted) build(p *program) (all steps, err error) {
	var ops []ir.OpID
	var cmds []device.Command
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		s := step{ops: ops}
		s.list, err = parts.Compile(h.dev, cmds)
		ops, cmds = nil, nil
		all = append(all, s)
		return err
	}
	for _, v := range p.sched.Order {
		c := p.sched.Graph.Ops[v].Control
		if c == nil {
			if _, nothing := p.work[v].(device.Nothing); !nothing {
				ops = append(ops, p.first+v)
				cmds = append(cmds, device.Command{Kind: device.Run, Stream: h.stream, Work: p.work[v]})
			}
			continue
		}
		if err := flush(); err != nil {
			return all, err
		}
		s, err := h.control(p, v, c)
		all = append(all, s)
		if err != nil {
			return all, err
		}
	}
	return all, flush()
}

// control lowers a loop or a branch.
func (h *hosted) control(p *program, v ir.OpID, c *ir.Control) (step, error) {
	s := step{of: c, op: p.first + v, name: p.nameHere(v), test: p.test(v)}
	h.read(&s, p.work[v].(*device.Copy))
	for _, body := range p.bodies[v] {
		inner, err := h.build(body)
		s.inner = append(s.inner, inner)
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// read sets the copy of the scalar of a step, and whether the step is disabled. The work of a disabled
// loop or branch is a copy of 0 bytes.
func (h *hosted) read(s *step, scalar *device.Copy) {
	s.off = scalar.Bytes == 0
	s.look = &device.Copy{Dst: h.mail.At, Src: scalar.Src, Bytes: s.of.Scalar.Hi - s.of.Scalar.Lo, Label: scalar.Label}
}

func (h *hosted) launch(n int) error {
	for range n {
		if err := h.run(h.steps); err != nil {
			return err
		}
	}
	return nil
}

// run runs steps once, in order.
func (h *hosted) run(all steps) error {
	for i := range all {
		s := &all[i]
		var err error
		switch {
		case s.of == nil:
			err = s.list.Submit(h.dev, 1)
		case s.off:
		case s.of.Limit > 0:
			err = h.loop(s)
		default:
			err = h.branch(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loop runs the body until a check ends the loop, or Limit times. Every Every-th iteration is checked.
func (h *hosted) loop(s *step) error {
	for i := int64(1); i <= s.of.Limit; i++ {
		if err := h.run(s.inner[0]); err != nil {
			return err
		}
		if i%s.of.Every != 0 {
			continue
		}
		if found, err := h.find(s); err != nil || found != until.GoOn {
			return err
		}
	}
	return nil
}

// branch runs the first body if the condition holds, and otherwise the second, if there is one.
func (h *hosted) branch(s *step) error {
	found, err := h.find(s)
	if err != nil {
		return err
	}
	body := 0
	if found != until.Met {
		body = 1
	}
	if body == len(s.inner) {
		return nil
	}
	return h.run(s.inner[body])
}

// find waits for the submitted work, reads the scalar of a step and evaluates its condition.
func (h *hosted) find(s *step) (until.Finding, error) {
	if err := h.dev.Submit(h.stream, s.look); err != nil {
		return until.GoOn, err
	}
	if err := h.dev.Synchronize(h.stream); err != nil {
		return until.GoOn, err
	}
	return s.test.Look(h.mail.Bytes), nil
}

func (h *hosted) length() int { return len(h.steps) }

func (h *hosted) wait(ctx context.Context) error { return h.dev.SynchronizeContext(ctx, h.stream) }

func (h *hosted) update(works []opWork) (int, error) {
	for i, w := range works {
		if err := h.set(h.steps, w); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// set updates the step that contains an operation. It searches the steps of all bodies.
func (h *hosted) set(all steps, w opWork) error {
	for i := range all {
		s := &all[i]
		if s.of != nil && s.op == w.op {
			h.read(s, w.work.(*device.Copy))
			return nil
		}
		if at := slices.Index(s.ops, w.op); at >= 0 {
			return h.dev.UpdateCommand(s.list.List, at, w.work)
		}
		for _, inner := range s.inner {
			if err := h.set(inner, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *hosted) keeps(ir.OpID) bool { return false } // it has command lists and no graphs

func (h *hosted) rebuild() error {
	if err := h.wait(context.Background()); err != nil {
		return err
	}
	all, err := h.build(h.prog)
	if err != nil {
		return device.Join(err, all.close(h.dev))
	}
	was := h.steps
	h.steps = all
	return was.close(h.dev)
}

func (h *hosted) origin() device.Stream { return h.stream }

func (h *hosted) close() error {
	errs := []error{h.steps.close(h.dev), h.mail.Close(h.dev)}
	if h.stream != 0 {
		errs = append(errs, h.dev.DestroyStream(h.stream))
	}
	return device.Join(errs...)
}

func (all steps) close(dev device.Device) error {
	var errs []error
	for i := range all {
		errs = append(errs, all[i].list.Close(dev))
		for _, inner := range all[i].inner {
			errs = append(errs, inner.close(dev))
		}
	}
	return device.Join(errs...)
}
