package tracer

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// values resolves the buffers and parameters of a program that runs, for package lower.
type values struct{ t *Tracer }

func (v values) Address(b ir.BufferID) device.Ptr { return v.t.buffers[b].now() }
func (v values) Value(p ir.ParamID) ir.Scalar     { return v.t.firstValue(p) }

// runLaunch submits a launch made at pc, unless the tracer only records.
func (t *Tracer) runLaunch(k *Kernel, l *ir.Launch, pc uintptr) {
	s := lower.Settings{Label: t.label(k.entry, pc), Function: k.function}
	t.submit(pc, lower.Launch(l, &s, values{t}))
}

// run submits another operation made at pc, unless the tracer only records or the operation does nothing.
func (t *Tracer) run(op *ir.Op, s lower.Settings, pc uintptr) {
	if t.mode == Deferred {
		return
	}
	w := lower.Work(op, &s, values{t})
	if _, nothing := w.(device.Nothing); !nothing {
		t.submit(pc, w)
	}
}

// submit submits work to the stream of the program, unless the tracer only records. A sink first orders
// the stream behind the replays that it has enqueued on other streams.
func (t *Tracer) submit(pc uintptr, w device.Work) {
	if t.mode == Deferred {
		return
	}
	if t.sink != nil {
		if err := t.sink.Order(); err != nil {
			t.fail(pc, "%w", err)
			return
		}
	}
	if err := t.dev.Submit(t.stream, w); err != nil {
		t.fail(pc, "%w", err)
	}
}
