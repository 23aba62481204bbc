package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// graphMemory is what nodes of graphs allocate and free. Its address is known when
// the graph is made; its bytes are there from where a launch comes to the node that
// allocates it to where one comes to a node that frees it, or until the host does.
type graphMemory struct {
	on    *Device
	at    uint64
	held  bool // after all that the host has enqueued
	users int  // its maker and instances
}

// GraphMemory counts the bytes that nodes of graphs have allocated. Reserved are those
// that the device keeps for them, which it gives up when it is asked to.
type GraphMemory struct{ Used, UsedHigh, Reserved, ReservedHigh int64 }

func (u *GraphMemory) grow(n int64) {
	u.Used += n
	u.UsedHigh = max(u.UsedHigh, u.Used)
	u.Reserved = max(u.Reserved, u.Used)
	u.ReservedHigh = max(u.ReservedHigh, u.Reserved)
}

// ReserveGraphMemory fixes the address of what a node of a graph will allocate.
func (d *Device) ReserveGraphMemory(bytes int64) (device.Ptr, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("ReserveGraphMemory")
	}
	d.graphMemoryNames++
	at, err := d.memory.Reserve(bytes, fmt.Sprintf("graph memory %d", d.graphMemoryNames))
	if err != nil {
		return 0, (&device.Error{Code: device.OutOfMemory, Err: err}).In("ReserveGraphMemory")
	}
	if d.graphMemory == nil {
		d.graphMemory = map[device.Ptr]*graphMemory{}
	}
	d.graphMemory[device.Ptr(at)] = &graphMemory{on: d, at: at, users: 1}
	return device.Ptr(at), nil
}

// DropGraphMemory ends the use of an address by its maker. Instances keep it, and so
// does what is allocated there until it is freed.
func (d *Device) DropGraphMemory(p device.Ptr) error {
	m := d.graphMemory[p]
	if m == nil {
		return (&device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("%#x is not the address of graph memory", uint64(p))}).In("DropGraphMemory")
	}
	leaveMemory([]*graphMemory{m})
	return nil
}

func leaveMemory(list []*graphMemory) {
	for _, m := range list {
		if m.users--; m.users == 0 {
			m.on.idle = append(m.on.idle, m)
		}
	}
}

// relinquish gives up the addresses that nothing uses, when no work is under way.
func (d *Device) relinquish() {
	d.idle = slices.DeleteFunc(d.idle, func(m *graphMemory) bool {
		if m.held {
			return false
		}
		d.memory.Relinquish(m.at)
		delete(d.graphMemory, device.Ptr(m.at))
		return true
	})
}

// GraphMemory is how much there is at the host's present time.
func (d *Device) GraphMemory() GraphMemory {
	d.catchUp()
	return d.graphUse
}

// TrimGraphMemory gives up what is reserved and not used.
func (d *Device) TrimGraphMemory() {
	d.catchUp()
	d.graphUse.Reserved = d.graphUse.Used
}

// ResetGraphMemoryHighs has the highest values begin anew.
func (d *Device) ResetGraphMemoryHighs(used, reserved bool) {
	d.catchUp()
	if used {
		d.graphUse.UsedHigh = d.graphUse.Used
	}
	if reserved {
		d.graphUse.ReservedHigh = d.graphUse.Reserved
	}
}

// HoldsGraphMemory reports whether p is graph memory, and whether it is allocated
// after all that the host has enqueued.
func (d *Device) HoldsGraphMemory(p device.Ptr) (is, held bool) {
	m := d.graphMemory[p]
	return m != nil, m != nil && m.held
}

// balance is what the launches of an instance leave of graph memory.
type balance struct {
	allocates []*graphMemory // in some node
	frees     []*graphMemory
	leaves    []*graphMemory // allocates and does not free
	takes     []*graphMemory // frees and does not allocate
	autoFree  bool           // what the last launch has left, when the next one begins
}

func (p *plan) balance(autoFree bool) balance {
	b := balance{autoFree: autoFree}
	for i := range p.nodes {
		if j := p.nodes[i].job; j != nil && j.memory != nil {
			list := &b.allocates
			if j.kind == graphFree {
				list = &b.frees
			}
			*list = append(*list, j.memory)
		}
	}
	b.leaves, b.takes = without(b.allocates, b.frees), without(b.frees, b.allocates)
	return b
}

func without(list, others []*graphMemory) (left []*graphMemory) {
	for _, m := range list {
		if !slices.Contains(others, m) {
			left = append(left, m)
		}
	}
	return left
}

// all is every address that the instance uses.
func (b *balance) all() []*graphMemory { return append(slices.Clone(b.allocates), b.takes...) }

// settle accounts for a launch, and says what is to be freed when it begins.
func (b *balance) settle() (due []*graphMemory, err *device.Error) {
	for _, m := range b.leaves {
		switch {
		case m.held && b.autoFree:
			due = append(due, m)
		case m.held:
			return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("the last launch has allocated memory at %#x that nothing has freed since; free it, or instantiate the graph so that launches do", m.at)}
		}
	}
	for _, m := range b.takes {
		if !m.held {
			return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("the graph frees memory at %#x that no launch has allocated since it was freed", m.at)}
		}
	}
	for _, m := range b.takes {
		m.held = false
	}
	for _, m := range b.leaves {
		m.held = true
	}
	return due, nil
}

// startGraphMemory allocates or frees at a node.
func (d *Device) startGraphMemory(id des.TaskID, j *job) {
	if j.kind == graphAlloc {
		if d.commit(j.memory.at); d.fault == nil {
			d.claims(id, j.memory)
		}
		return
	}
	d.claims(id, j.memory)
	d.freeInGraph(j.memory)
}

func (d *Device) commit(at uint64) {
	if err := d.memory.Commit(at); err != nil {
		code := device.InvalidValue
		if errors.Is(err, interp.ErrOutOfMemory) {
			code = device.OutOfMemory
		}
		d.fault = &device.Error{Code: code, Detail: "allocation by a node of a graph", Err: err}
		return
	}
	_, bytes, _ := d.memory.Base(at)
	d.graphUse.grow(bytes)
	d.live.Bytes += bytes
	d.live.Allocations++
}

func (d *Device) freeInGraph(m *graphMemory) {
	if err := d.free(m.at); err != nil {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: "free of graph memory that is not allocated", Err: err}
	}
}

// claims has races found between an allocation or a free and uses that nothing orders
// with it: both count as writing all of it.
func (d *Device) claims(id des.TaskID, m *graphMemory) {
	if d.races == nil {
		return
	}
	if _, bytes, ok := d.memory.Base(m.at); ok {
		d.races.span(d.races.order.of(id), writes, m.at, bytes, m.at)
	}
}

// freeOutside accounts for memory that the host frees, and says why it cannot.
func (d *Device) freeOutside(p device.Ptr) *device.Error {
	m := d.graphMemory[p]
	if m == nil {
		return nil
	}
	if !m.held {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("graph memory at %#x is not allocated after what has been enqueued, or its own graph frees it", m.at)}
	}
	m.held = false
	return nil
}
