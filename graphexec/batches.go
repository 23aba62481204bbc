package graphexec

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
)

// batches runs iterations some at a time and reads the scalar in between.
type batches struct {
	x      *LoopExec
	launch func(n int) error // runs n iterations
	mail   mailbox
	look   *device.Copy // brings the scalar to the mailbox
}

// newHostChecked lowers a loop to replays of its body.
func newHostChecked(x *LoopExec) (*batches, error) {
	b := &batches{x: x}
	b.launch = func(n int) error {
		for range n {
			if err := x.body.Replay(context.Background()); err != nil {
				return err
			}
		}
		x.stats.Launches += n
		return nil
	}
	var err error
	if b.mail, err = newMailbox(x.dev, x.until.bytes); err != nil {
		return nil, err
	}
	b.look = &device.Copy{Dst: b.mail.at, Src: x.until.at, Bytes: x.until.bytes, Label: "look at " + x.until.name}
	return b, nil
}

func (b *batches) run(ctx context.Context, n int) (finding, error) {
	x := b.x
	for n > 0 && ctx.Err() == nil {
		size := min(n, x.loop.CheckEvery)
		found, err := b.batch(size)
		if err != nil {
			return goOn, x.failed(size, err)
		}
		x.done += size
		n -= size
		if found != goOn {
			return found, nil
		}
	}
	return goOn, nil
}

func (b *batches) batch(size int) (finding, error) {
	x := b.x
	if err := b.launch(size); err != nil {
		return goOn, err
	}
	if err := x.dev.Submit(x.stream, b.look); err != nil {
		return goOn, err
	}
	x.stats.Checks++
	err := x.dev.Synchronize(x.stream)
	return x.until.look(b.mail.bytes), err
}

func (b *batches) close() error { return b.mail.close(b.x.dev) }
