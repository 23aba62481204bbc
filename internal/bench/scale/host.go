package scale

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
)

// hostBatches is the number of batches that are timed, and hostBatch the least duration of one. The quickest counts,
// because everything that disturbs a batch makes it longer.
const (
	hostBatches = 5
	hostBatch   = 4 * time.Millisecond
)

// hostTime returns the real time in us for which the host of one rank, the one in the middle, is busy in a replay. Its devices
// check every call and run nothing, and its messages are sent to nobody.
func hostTime(ctx context.Context, m *machine.Machine, plan *distribute.Plan) (us float64, err error) {
	number := len(m.Ranks) / 2
	var devices []device.Device
	for _, d := range null.NewPeers(len(m.Ranks[number].Devices)) {
		devices = append(devices, d)
	}
	r, err := ranks.New(m, alone{number, len(m.Ranks)}, devices, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	p, err := r.Prepare(ctx, plan, ranks.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Run(ctx, len(plan.Rounds)); err != nil {
		return 0, err
	}
	us = math.Inf(1)
	for n, batch := 1, 0; batch < hostBatches; {
		began := time.Now()
		if err := p.Run(ctx, n); err != nil {
			return 0, err
		}
		spent := time.Since(began)
		if spent < hostBatch {
			n *= 2
			continue
		}
		us = min(us, float64(spent.Nanoseconds())/1e3/float64(n))
		batch++
	}
	return us, nil
}

// alone is the transport of a rank that is measured without the others: it sends nothing and receives nothing.
type alone struct{ rank, size int }

func (a alone) Rank() int  { return a.rank }
func (a alone) Size() int  { return a.size }
func (alone) Close() error { return nil }
func (alone) Abort(error)  {}
func (a alone) Gather(_ context.Context, mine []byte) ([][]byte, error) {
	all := make([][]byte, a.size)
	for i := range all {
		all[i] = mine
	}
	return all, nil
}
func (alone) Freeze([]transport.Message) (transport.Exchange, error) { return silence{}, nil }

// silence is an exchange without messages.
type silence struct{}

func (silence) Run(context.Context) error  { return nil }
func (silence) Start() error               { return nil }
func (silence) Wait(context.Context) error { return nil }
func (silence) Close() error               { return nil }
