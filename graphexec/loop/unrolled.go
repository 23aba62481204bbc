package loop

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
)

// unrolled is a loop of graphs with several iterations in each.
type unrolled struct {
	batches
	rounds parts.Rounds
	ring   device.Ptr // the scalar of each check, if a graph has several checks
}

// newUnrolled lowers a loop to launches of graphs with size iterations.
func newUnrolled(x *Exec, size int) *unrolled {
	u := &unrolled{batches: batches{x: x, size: size, period: max(size, x.loop.CheckEvery)}}
	u.values = u.scalars
	u.launch = func(n int) error { return u.rounds.Launch(n) }
	return u
}

func (u *unrolled) build(over Overrun) (err error) {
	if u.x.view.Moves() {
		return unfit("the body has a prefetch, which a graph cannot hold")
	}
	if u.checks() > 1 {
		if u.ring, err = u.x.dev.Alloc(int64(u.checks()) * u.x.until.bytes); err != nil {
			return err
		}
	}
	if u.rounds, err = u.x.rounds(u.size, u.surround); err != nil {
		return err
	}
	return u.batches.build(over)
}

// surround adds the iterations to a graph. The copy of a check is off the path of the iterations: only
// the next operation that writes the scalar waits for it.
func (u *unrolled) surround(r parts.Rounds, g device.Graph) error {
	x := u.x
	return r.Fill(g, func(i int, behind []device.Node) (device.Node, error) {
		if u.ring == 0 || i%x.loop.CheckEvery != 0 {
			return 0, nil
		}
		slot := u.ring + device.Ptr(int64(i/x.loop.CheckEvery-1)*x.until.bytes)
		return r.Read(behind, func() device.Work {
			return &device.Copy{Dst: slot, Src: x.until.at, Bytes: x.until.bytes, Label: "check " + x.until.name}
		})
	})
}

// scalars returns the address at which a period leaves its scalars.
func (u *unrolled) scalars() device.Ptr {
	if u.ring != 0 {
		return u.ring
	}
	return u.x.until.at
}

func (u *unrolled) bodies() parts.Replays { return u.rounds.Replays() }

func (u *unrolled) follow() error {
	if err := u.rounds.Follow(); err != nil {
		return err
	}
	return u.batches.follow()
}

func (u *unrolled) close() error {
	errs := []error{u.batches.close()}
	if u.rounds != nil {
		errs = append(errs, u.rounds.Close())
	}
	if u.ring != 0 {
		errs = append(errs, u.x.dev.Free(u.ring))
	}
	return device.Join(errs...)
}
