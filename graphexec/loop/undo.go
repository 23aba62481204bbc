package loop

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// undo saves the memory that a body carries from iteration to iteration, at two points in turns, and
// restores it.
type undo struct {
	x             *Exec
	shadow        [2]device.Ptr
	save, restore [2]parts.Commands
}

// piece is a range of memory that a body writes, and its place in a shadow.
type piece struct {
	at    device.Ptr
	bytes int64
	kept  int64 // offset in a shadow
	name  string
}

func (u *undo) build() error {
	pieces, total, err := u.x.carried()
	if err != nil {
		return err
	}
	dev := u.x.dev
	for i := range u.shadow {
		if u.shadow[i], err = dev.Alloc(total); err != nil {
			return fmt.Errorf("%d bytes to undo iterations: %w", total, err)
		}
		var save, restore []device.Command
		for _, p := range pieces {
			keep, putBack := p.copies(u.shadow[i])
			save = append(save, device.Command{Stream: u.x.stream, Work: keep})
			restore = append(restore, device.Command{Stream: u.x.stream, Work: putBack})
		}
		if u.save[i], err = parts.Compile(dev, save); err != nil {
			return err
		}
		if u.restore[i], err = parts.Compile(dev, restore); err != nil {
			return err
		}
	}
	return nil
}

// copies returns the copies that save and that restore a piece.
func (p *piece) copies(shadow device.Ptr) (keep, putBack *device.Copy) {
	kept := shadow + device.Ptr(p.kept)
	return &device.Copy{Dst: kept, Src: p.at, Bytes: p.bytes, Label: "keep " + p.name},
		&device.Copy{Dst: p.at, Src: kept, Bytes: p.bytes, Label: "put back " + p.name}
}

// follow moves the copies to the current addresses of the buffers.
func (u *undo) follow() error {
	pieces, _, err := u.x.carried()
	if err != nil {
		return err
	}
	for i, shadow := range u.shadow {
		for n, p := range pieces {
			keep, putBack := p.copies(shadow)
			if err := u.x.dev.UpdateCommand(u.save[i].List, n, keep); err != nil {
				return err
			}
			if err := u.x.dev.UpdateCommand(u.restore[i].List, n, putBack); err != nil {
				return err
			}
		}
	}
	return nil
}

// carried returns the memory that a body writes, of buffers that outlive a replay. For each buffer it
// is one range, from the first byte written to the last.
func (x *Exec) carried() (pieces []piece, total int64, err error) {
	g := x.loop.Body.Graph
	written := make([]ir.Range, len(g.Buffers)-g.Made) // the buffers that passes made are dead after a replay
	var scratch [2]ir.Access
	for v := range g.Ops {
		if g.Ops[v].Kind == ir.KindHost {
			return nil, 0, parts.OpError(g, ir.OpID(v), fmt.Errorf("a host call cannot be undone: set Overrun to Forbidden"))
		}
		accesses := g.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			if !a.Mode.Writes() || a.Empty() || int(a.Buffer) >= len(written) || g.Buffers[a.Buffer].Role == ir.Temporary {
				continue
			}
			if w := &written[a.Buffer]; w.Empty() {
				*w = a.Range
			} else {
				w.Lo, w.Hi = min(w.Lo, a.Lo), max(w.Hi, a.Hi)
			}
		}
	}
	for id, w := range written {
		if w.Empty() {
			continue
		}
		name, at := "@"+g.Buffers[id].Name, x.view.Address(ir.BufferID(id))
		if at == 0 {
			return nil, 0, fmt.Errorf("%s, which the body writes, is a variable of a module and cannot be undone: set Overrun to Forbidden", name)
		}
		pieces = append(pieces, piece{at: at + device.Ptr(w.Lo), bytes: w.Hi - w.Lo, kept: total, name: name})
		total += (w.Hi - w.Lo + parts.Alignment - 1) / parts.Alignment * parts.Alignment
	}
	return pieces, total, nil
}

func (u *undo) close() error {
	dev := u.x.dev
	var errs []error
	for i := range u.shadow {
		errs = append(errs, u.save[i].Close(dev), u.restore[i].Close(dev))
		if u.shadow[i] != 0 {
			errs = append(errs, dev.Free(u.shadow[i]))
		}
	}
	return device.Join(errs...)
}
