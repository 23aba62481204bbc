package auto_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/tracertest"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

func load(t testing.TB, tr *tracer.Tracer, name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	require.True(t, ok, name)
	return tr.Module(k.File, k.PTX).Kernel(name)
}

// ledger records all work of a device, whether it is submitted one by one or in replays.
type ledger struct {
	device.Device
	kernels map[device.Function]string
	work    []string
	ended   []*recital // that were closed, in order
	silent  bool
}

func newLedger() *ledger {
	l := &ledger{kernels: map[device.Function]string{}}
	l.Device = wrap.Intercept(null.New(), func(c *wrap.Call, next func() error) error {
		err := next()
		switch c.Method {
		case "Submit":
			l.note(c.Args[1].(device.Work))
		case "Function":
			l.kernels[c.Results[0].(device.Function)] = c.Args[1].(string)
		}
		return err
	})
	return l
}

func (l *ledger) note(w device.Work) {
	if l.silent {
		return
	}
	switch w := w.(type) {
	case *device.Launch:
		l.work = append(l.work, fmt.Sprint(l.kernels[w.Function], w.Grid, w.Block, w.Shared, w.Params))
	case *device.Copy:
		l.work = append(l.work, fmt.Sprint("copy ", w.Dst, w.Src, w.Bytes))
	case *device.Memset:
		l.work = append(l.work, fmt.Sprint("memset ", w.Dst, w.Value, w.Width, w.Count))
	case *device.HostCall:
		l.work = append(l.work, "host "+w.Label)
	}
}

// engine replays by running one operation after the other.
func (l *ledger) engine(body *tracer.Trace) (auto.Replayer, error) {
	r := &recital{ledger: l, body: body}
	for _, p := range body.Graph.Params {
		r.values = append(r.values, p.Value)
	}
	return r, nil
}

type recital struct {
	*ledger
	body   *tracer.Trace
	values []ir.Scalar
	closed bool
}

func (r *recital) Set(changed []ir.ParamID, values []ir.Scalar) error {
	for _, p := range changed {
		r.values[p] = values[p]
	}
	return nil
}
func (r *recital) Wait() error           { return nil }
func (r *recital) Stream() device.Stream { return 1 } // the program's
func (r *recital) Close() error {
	r.closed = true
	r.ended = append(r.ended, r)
	return nil
}

func (r *recital) Replay() error {
	if r.closed {
		return errors.New("it is closed")
	}
	if r.silent {
		return nil
	}
	g := r.body.Graph
	for i := range g.Ops {
		var with lower.Settings
		if l := g.Ops[i].Launch; l != nil {
			f, err := r.Function(traced.Of(r.body).Module(l.Module), l.Entry)
			if err != nil {
				return err
			}
			with.Function = f
		}
		r.note(lower.Work(&g.Ops[i], &with, r))
	}
	return nil
}

func (r *recital) Address(b ir.BufferID) device.Ptr { return r.body.Pointer(b) }
func (r *recital) Value(p ir.ParamID) ir.Scalar     { return r.values[p] }

// The work that is submitted or replayed is the program, in its order. The programs have nested loops that begin
// anywhere, with other calls in between. Collisions of hashes, provoked by hashes of one bit, do not change this.
func TestWhatIsReplayedIsWhatTheProgramDid(t *testing.T) {
	for bits, seeds := range map[int]uint64{64: 200, 1: 60} {
		if testing.Short() {
			seeds /= 4
		}
		t.Run(fmt.Sprint(bits, " bits"), func(t *testing.T) {
			defer auto.SetSymbolBits(bits)()
			replayed, calls, updates, misses := 0, 0, 0, 0
			for seed := range seeds {
				p := tracertest.Random(seed)
				plain, watched := newLedger(), newLedger()
				direct, program := tracer.New(plain, "p", tracer.Direct), auto.Start(watched, "p", watched.engine)
				p.Run(t, direct)
				p.Run(t, program)
				require.Equal(t, plain.work, watched.work, "seed %d", seed)
				s := auto.StatsOf(program)
				replayed, calls, updates, misses = replayed+s.Replayed, calls+s.Calls, updates+s.Updates, misses+s.Misses
				for _, tr := range []*tracer.Tracer{direct, program} {
					trace, err := tr.Finish()
					require.NoError(t, err)
					require.NoError(t, trace.Close())
				}
			}
			t.Logf("%d of %d calls are replayed, with %d updates; %d misses", replayed, calls, updates, misses)
			if bits == 64 {
				assert.Greater(t, replayed, calls/2)
			}
			assert.Positive(t, updates)
			assert.Positive(t, misses)
		})
	}
}
