package ranks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/tracer"
)

// Rank is one process of a machine: its devices, and its connection to the others. Only one goroutine may use it, and its
// plans, at a time. Methods that are collective are called by all ranks, in the same order.
type Rank struct {
	machine   *machine.Machine
	layout    *distribute.Layout
	transport transport.Transport
	devices   []device.Device
	first     int32 // number of its first device in the layout
	closing   func() error
}

// New connects the devices of a rank with the other ranks. The devices are those of rank t.Rank() of the machine, in order.
// Close closes the transport and calls closing, which closes the devices.
func New(m *machine.Machine, t transport.Transport, devices []device.Device, closing func() error) (*Rank, error) {
	if t.Size() != len(m.Ranks) {
		return nil, fmt.Errorf("machine %s has %d ranks, and the program was started with %d: start it with as many processes as the machine has ranks", m.ID, len(m.Ranks), t.Size())
	}
	if want := len(m.Ranks[t.Rank()].Devices); len(devices) != want {
		return nil, fmt.Errorf("rank %d of machine %s has %d devices, and %d were opened", t.Rank(), m.ID, want, len(devices))
	}
	r := &Rank{machine: m, layout: distribute.LayoutOf(m), transport: t, devices: devices, closing: closing}
	for i := range t.Rank() {
		r.first += int32(len(m.Ranks[i].Devices))
	}
	return r, r.befriend()
}

// befriend enables peer access between the devices that are peers.
func (r *Rank) befriend() error {
	for i, d := range r.devices {
		for j, other := range r.devices {
			if i == j || !r.layout.Peers(r.first+int32(i), r.first+int32(j)) {
				continue
			}
			p, is := d.(device.Peer)
			if !is {
				return fmt.Errorf("device %d of rank %d is a %s, which cannot work with other devices", i, r.Number(), d.Info().Name)
			}
			if err := p.EnablePeer(other); err != nil {
				return fmt.Errorf("devices %d and %d of rank %d are peers in machine %s: %w", i, j, r.Number(), r.machine.ID, err)
			}
		}
	}
	return nil
}

// Number returns the number of the rank, from 0.
func (r *Rank) Number() int { return r.transport.Rank() }

// Size returns the number of ranks.
func (r *Rank) Size() int { return r.transport.Size() }

// Machine returns the machine.
func (r *Rank) Machine() *machine.Machine { return r.machine }

// Now returns the time of the rank's host: virtual time if its devices are simulated.
func (r *Rank) Now() time.Duration { return r.devices[0].Now() }

// Devices returns the devices of this rank.
func (r *Rank) Devices() []device.Device { return r.devices }

// Record begins a trace of a step, as for one device. It allocates no memory on devices: plans do. All ranks record the
// same step.
func (r *Rank) Record(name string) *tracer.Tracer {
	return tracer.New(recorder{null.New()}, name, tracer.Deferred)
}

// recorder is the device of traces that plans are made of. It has no memory to write or read.
type recorder struct{ *null.Device }

var errRecorder = errors.New("the buffers of a rank's trace have memory in a plan only: use cluster.Write and cluster.Read with the plan")

func (recorder) Write(device.Ptr, []byte) error { return errRecorder }
func (recorder) Read([]byte, device.Ptr) error  { return errRecorder }

// Close ends the connection to the other ranks and closes the devices. Close the plans before.
func (r *Rank) Close() error {
	err := r.transport.Close()
	if r.closing != nil {
		err = errors.Join(err, r.closing())
	}
	return err
}

// Abort ends the run on all other ranks: their calls return a LostError that names this rank and err.
func (r *Rank) Abort(err error) { r.transport.Abort(err) }

// fail ends the run on all other ranks if err is not nil, and returns err.
func (r *Rank) fail(err error) error {
	if err != nil {
		r.transport.Abort(err)
	}
	return err
}

// agree returns an error unless all ranks pass the same items.
func (r *Rank) agree(ctx context.Context, items []transport.Named) error {
	return transport.Agree(ctx, r.transport, items)
}

// gather returns the bytes of all ranks, by rank, on behalf of a call. It returns an error unless all ranks make the same call.
func (r *Rank) gather(ctx context.Context, call string, mine []byte) ([][]byte, error) {
	if r.Size() == 1 {
		return [][]byte{mine}, nil
	}
	return transport.GatherFor(ctx, r.transport, call, mine)
}
