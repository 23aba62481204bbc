package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// ValueKind is the operation of a ValueOp on a word v of memory. Waits have the driver's numbers.
type ValueKind uint8

// Each wait ends when the word has the property.
const (
	WaitGEQ    ValueKind = iota // v - Value, as a signed number, is at least 0
	WaitEqual                   // v == Value
	WaitAnd                     // v & Value is not 0
	WaitNor                     // ^(v | Value) is not 0
	WriteValue                  // stores Value
)

// cost returns the host time of an operation, which is that of an event.
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
	Value uint64 // a 4-byte word uses the low half
	Width int    // 4 or 8 bytes
}

// Values is a device.Work: waits and stores that run in order. A wait sees the stores of work when that work ends,
// and stores of the host while it waits for the device or queries it.
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

// heldTask is a task that waits at an operation.
type heldTask struct {
	on  *Device
	id  des.TaskID
	ops []ValueOp // the remaining operations
}

func (d *Device) startValues(id des.TaskID, j *job) model.Demand {
	h := heldTask{on: d, id: id, ops: j.ops}
	if d.proceed(&h) {
		return model.Demand{}
	}
	d.held = append(d.held, h)
	return model.Demand{Kind: des.Held}
}

// proceed runs operations up to one that has to wait. It returns true if none had to. An access to freed memory is a
// fault, which ends all waits.
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

// satisfied reports whether a wait ends when memory holds v.
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

// releaseHeld ends the waits whose condition holds. It is called whenever work has ended on any device, because the
// work may have stored the value.
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

// giveUp faults the device when a wait can never end because no work is left that could store the value.
func (t *sharedTime) giveUp() {
	if len(t.held) == 0 {
		panic("BUG: work can never end, and none of it waits for a value")
	}
	h := t.held[0]
	h.on.fault = &device.Error{Code: device.LaunchTimeout,
		Detail: fmt.Sprintf("a stream waits for a value at %#x, and nothing is left that could write it", uint64(h.ops[0].Ptr))}
	t.releaseHeld()
}
