package scale

import (
	"context"
	"errors"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/transport"
)

// simulated opens the devices of a rank on one clock.
func simulated(m *machine.Machine, rank int) (list []device.Device, closing func() error, err error) {
	opened, err := sim.OpenRank(&m.Ranks[rank], sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	for _, d := range opened {
		list = append(list, d)
	}
	return list, func() (err error) {
		for _, d := range list {
			err = errors.Join(err, d.Close())
		}
		return err
	}, nil
}

// onRanks runs a function for each rank of a machine, in one process, and returns the first error.
func onRanks(ctx context.Context, m *machine.Machine, f func(ctx context.Context, r *ranks.Rank) error) error {
	transports := transport.Local(len(m.Ranks))
	errs := make([]error, len(transports))
	var all sync.WaitGroup
	for i, t := range transports {
		all.Go(func() { errs[i] = onRank(ctx, m, t, f) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func onRank(ctx context.Context, m *machine.Machine, t transport.Transport, f func(ctx context.Context, r *ranks.Rank) error) error {
	devices, closing, err := simulated(m, t.Rank())
	if err != nil {
		t.Abort(err)
		return err
	}
	r, err := ranks.New(m, t, devices, closing)
	if err != nil {
		t.Abort(err)
		return errors.Join(err, closing())
	}
	if err = f(ctx, r); err != nil {
		t.Abort(err)
	}
	return errors.Join(err, r.Close())
}
