//go:build cuda && cgo

package cuda

import (
	"runtime/cgo"
	"sync"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// hostCall is a Go function that the driver calls on a thread of its own. The driver refers to it by a handle. The
// handle stays valid until the work, the node or the command that holds it is gone and every enqueued run has
// happened.
type hostCall struct {
	calls  *hostCalls
	handle cgo.Handle
	work   device.HostCall

	// Guarded by calls.mu.
	holders int // number of objects that may enqueue it again
	pending int // runs enqueued and not started
}

// hostCalls holds the host calls of a device that the driver may still run.
type hostCalls struct {
	running atomic.Int32

	mu     sync.Mutex
	live   map[*hostCall]bool
	failed *device.Error // error of the first failure that no call has returned yet
}

// add makes a function callable. release or finish frees it.
func (t *hostCalls) add(w *device.HostCall) *hostCall {
	h := &hostCall{calls: t, work: *w, holders: 1}
	f := w.Func
	h.work.Func = func() error { return asHostCall(f) }
	h.handle = cgo.NewHandle(h)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[*hostCall]bool{}
	}
	t.live[h] = true
	return h
}

// enqueued adds the given number of pending runs; -1 cancels one.
func (h *hostCall) enqueued(runs int) {
	if h == nil {
		return
	}
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	h.pending += runs
	h.free()
}

// hold adds a holder, such as an instance of its graph.
func (h *hostCall) hold() {
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	h.holders++
}

// release removes a holder.
func (h *hostCall) release() {
	if h == nil {
		return
	}
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	h.holders--
	h.free()
}

func (h *hostCall) free() {
	if h.holders > 0 || h.pending > 0 || !h.calls.live[h] {
		return
	}
	h.handle.Delete()
	delete(h.calls.live, h)
}

// run is called by the driver.
func (h *hostCall) run() {
	t := h.calls
	t.running.Add(1)
	failed := contract.RunHostCall(&h.work)
	t.running.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	h.pending--
	h.free()
	if t.failed == nil {
		t.failed = failed
	}
}

// inside reports whether the calling goroutine is running a host call.
func (t *hostCalls) inside() bool { return t.running.Load() > 0 && inHostCall() }

// failure returns the error of a host call that no call has returned yet.
func (t *hostCalls) failure() *device.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.failed
	t.failed = nil
	return err
}

// clear frees all host calls. The driver must not run anything any more.
func (t *hostCalls) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h := range t.live {
		h.handle.Delete()
	}
	clear(t.live)
}
