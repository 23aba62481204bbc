//go:build cuda

package cuda

import (
	"runtime/cgo"
	"sync"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
)

// hostCall is a Go function that the driver calls, on a thread of its own choosing.
// The driver knows it by a handle, which stays valid until the work, the node or the
// command that holds it is gone and every run that was enqueued has taken place.
type hostCall struct {
	calls  *hostCalls
	handle cgo.Handle
	work   device.HostCall

	// Guarded by calls.mu.
	holders int // that may enqueue it again
	pending int // runs enqueued and not begun
}

// hostCalls are the host calls of a device that the driver may still make.
type hostCalls struct {
	running atomic.Int32

	mu     sync.Mutex
	live   map[*hostCall]bool
	failed *device.Error // of the first that went wrong, which no call has returned yet
}

// add makes a function callable; release or finish gives it up.
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

// enqueued notes runs to come, or with -1 that one of them will not come.
func (h *hostCall) enqueued(runs int) {
	if h == nil {
		return
	}
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	h.pending += runs
	h.free()
}

// hold adds one that may enqueue it: an instance beside its graph.
func (h *hostCall) hold() {
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	h.holders++
}

// release is called by one that will not enqueue it any more.
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
	failed := h.work.Run()
	t.running.Add(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	h.pending--
	h.free()
	if t.failed == nil {
		t.failed = failed
	}
}

// inside reports whether the calling goroutine runs in a host call.
func (t *hostCalls) inside() bool { return t.running.Load() > 0 && inHostCall() }

// failure is what went wrong in a host call and no call has returned yet.
func (t *hostCalls) failure() *device.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.failed
	t.failed = nil
	return err
}

// clear gives up whatever is left, when the driver runs nothing any more.
func (t *hostCalls) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h := range t.live {
		h.handle.Delete()
	}
	clear(t.live)
}
