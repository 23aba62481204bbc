package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// ValueKind is what a ValueOp does with a word v of memory, with the driver's
// numbers for waiting.
type ValueKind uint8

// The waits end when memory has the property.
const (
	WaitGEQ    ValueKind = iota // v - Value is not negative, as a signed number
	WaitEqual                   // v == Value
	WaitAnd                     // v & Value is not 0
	WaitNor                     // ^(v | Value) is not 0
	WriteValue                  // v becomes Value
)

// cost is what an operation takes the host: what an event would.
func (k ValueKind) cost(h *model.HostCosts) model.Time {
	if k == WriteValue {
		return h.EventRecord
	}
	return h.EventWait
}

// ValueOp is a wait for a word of memory, or a store to one.
type ValueOp struct {
	Kind  ValueKind
	Ptr   device.Ptr
	Value uint64 // of which a word of 4 bytes has the low ones
	Width int    // bytes: 4 or 8
}

// Values is a device.Work: waits and stores, one after the other. Waits see what work
// has stored when it ends, and what the host stores at some time while it waits for
// the device or asks it.
type Values struct {
	device.Work
	Ops []ValueOp
}

func (d *Device) fillValues(j *job, v *Values) *device.Error {
	for i := range v.Ops {
		o := &v.Ops[i]
		switch {
		case o.Kind > WriteValue:
			return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("value operation %d is unknown", o.Kind)}
		case o.Width != 4 && o.Width != 8 || uint64(o.Ptr)%uint64(o.Width) != 0:
			return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("a word of %d bytes at %#x; want 4 or 8, aligned", o.Width, uint64(o.Ptr))}
		}
		check := d.within
		if o.Kind == WriteValue {
			check = d.writable
		}
		if err := check(o.Ptr, int64(o.Width)); err != nil {
			return err
		}
	}
	*j = job{kind: valueOps, ops: slices.Clone(v.Ops)}
	return nil
}

// heldTask has come to an operation that has to wait.
type heldTask struct {
	on  *Device
	id  des.TaskID
	ops []ValueOp // the rest
}

func (d *Device) startValues(id des.TaskID, j *job) model.Demand {
	h := heldTask{on: d, id: id, ops: j.ops}
	if d.proceed(&h) {
		return model.Demand{}
	}
	d.held = append(d.held, h)
	return model.Demand{Kind: model.Held}
}

// proceed carries out operations up to one that has to wait, and reports whether there
// was none. Memory that was freed is a fault, which ends all waits.
func (d *Device) proceed(h *heldTask) bool {
	for ; len(h.ops) > 0 && d.fault == nil; h.ops = h.ops[1:] {
		o := &h.ops[0]
		reach := d.reach
		if o.Kind == WriteValue {
			reach = d.reachTo
		}
		b := reach(uint64(o.Ptr), int64(o.Width))
		var word [8]byte
		switch {
		case o.Kind == WriteValue:
			binary.LittleEndian.PutUint64(word[:], o.Value)
			copy(b, word[:])
			d.changed(uint64(o.Ptr))
			d.noteStore(o)
		case copy(word[:], b) > 0 && !o.satisfied(binary.LittleEndian.Uint64(word[:])):
			return false
		}
	}
	return true
}

func (d *Device) noteStore(o *ValueOp) {
	if d.races != nil {
		d.races.memory.Initialise(uint64(o.Ptr), uint64(o.Width))
	}
}

// satisfied reports whether a wait is over when memory holds v.
func (o *ValueOp) satisfied(v uint64) bool {
	unused := 64 - 8*uint(o.Width)
	switch o.Kind {
	case WaitGEQ:
		return int64((v-o.Value)<<unused) >= 0
	case WaitEqual:
		return v<<unused == o.Value<<unused
	case WaitAnd:
		return (v&o.Value)<<unused != 0
	}
	return ^(v|o.Value)<<unused != 0
}

// releaseHeld ends the waits that are over. Work may have written what they wait for
// whenever some has ended, on any device.
func (t *sharedTime) releaseHeld() {
	if len(t.held) == 0 {
		return
	}
	waiting := t.held[:0]
	for _, h := range t.held {
		if h.on.proceed(&h) {
			t.clock.Release(h.id)
		} else {
			waiting = append(waiting, h)
		}
	}
	t.held = waiting
}

// giveUp ends all waits, for values that nobody is left to write.
func (t *sharedTime) giveUp() {
	if len(t.held) == 0 {
		panic("BUG: work can never end, and none of it waits for a value")
	}
	h := t.held[0]
	h.on.fault = &device.Error{Code: device.LaunchTimeout,
		Detail: fmt.Sprintf("a stream waits for a value at %#x, and nothing is left that could write it", uint64(h.ops[0].Ptr))}
	t.releaseHeld()
}
