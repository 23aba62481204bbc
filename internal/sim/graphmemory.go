package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// graphMemory is memory that nodes of graphs allocate and free. Its address is fixed when the graph is made. Its
// bytes exist from the execution of a node that allocates it until the execution of a node that frees it, or until
// the host frees it.
type graphMemory struct {
	on    *Device
	at    uint64
	held  bool // allocated after all work that the host has enqueued
	users int  // number of users: its creator and instances
}

// GraphMemory holds statistics of memory allocated by graph nodes, in bytes. Reserved memory is kept for them until
// TrimGraphMemory.
type GraphMemory struct{ Used, UsedHigh, Reserved, ReservedHigh int64 }

func (u *GraphMemory) grow(n int64) {
	u.Used += n
	u.UsedHigh = max(u.UsedHigh, u.Used)
	u.Reserved = max(u.Reserved, u.Used)
	u.ReservedHigh = max(u.ReservedHigh, u.Reserved)
}

// ReserveGraphMemory reserves an address for memory that a node of a graph will allocate.
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

// DropGraphMemory releases the creator's reference to an address. Instances hold references of their own, and
// allocated memory stays until it is freed.
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

// relinquish releases addresses without users once no work is in progress.
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

// GraphMemory returns the statistics at the host's present time.
func (d *Device) GraphMemory() GraphMemory {
	d.catchUp()
	return d.graphUse
}

// TrimGraphMemory releases reserved memory that is not in use.
func (d *Device) TrimGraphMemory() {
	d.catchUp()
	d.graphUse.Reserved = d.graphUse.Used
}

// ResetGraphMemoryHighs resets the high-water marks to the present values.
func (d *Device) ResetGraphMemoryHighs(used, reserved bool) {
	d.catchUp()
	if used {
		d.graphUse.UsedHigh = d.graphUse.Used
	}
	if reserved {
		d.graphUse.ReservedHigh = d.graphUse.Reserved
	}
}

// HoldsGraphMemory reports whether p is graph memory, and whether it is allocated after all work enqueued so far.
func (d *Device) HoldsGraphMemory(p device.Ptr) (is, held bool) {
	m := d.graphMemory[p]
	return m != nil, m != nil && m.held
}

// balance describes the effect of an instance's launches on graph memory.
type balance struct {
	allocates []*graphMemory // memory that some node allocates
	frees     []*graphMemory
	leaves    []*graphMemory // memory that it allocates and does not free
	takes     []*graphMemory // memory that it frees and does not allocate
	autoFree  bool           // free memory left by the last launch at the start of the next one
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

// all returns all addresses that the instance uses.
func (b *balance) all() []*graphMemory { return append(slices.Clone(b.allocates), b.takes...) }

// settle accounts for a launch. It returns the memory to be freed at its start.
func (b *balance) settle() (due []*graphMemory, err *device.Error) {
	for _, m := range b.leaves {
		switch {
		case m.held && b.autoFree:
			due = append(due, m)
		case m.held:
			return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("memory at %#x that the last launch allocated has not been freed: free it, or instantiate the graph with automatic free on launch", m.at)}
		}
	}
	for _, m := range b.takes {
		if !m.held {
			return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("the graph frees memory at %#x, which is not allocated: launch the graph that allocates it first", m.at)}
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

// startGraphMemory performs the allocation or the free of a node.
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
	d.poisonNew(device.Ptr(at), bytes)
	d.graphUse.grow(bytes)
	d.live.Bytes += bytes
	d.live.Allocations++
}

func (d *Device) freeInGraph(m *graphMemory) {
	if err := d.free(m.at); err != nil {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: "free of graph memory that is not allocated", Err: err}
	}
}

// claims detects races between an allocation or a free and uses that are not ordered with it. Both count as writes of
// the whole allocation.
func (d *Device) claims(id des.TaskID, m *graphMemory) {
	if d.races == nil {
		return
	}
	if _, bytes, ok := d.memory.Base(m.at); ok {
		d.races.span(d.races.order.of(id), writes, m.at, bytes, m.at)
	}
}

// freeOutside accounts for memory that the host frees. It returns an error if it must not be freed.
func (d *Device) freeOutside(p device.Ptr) *device.Error {
	m := d.graphMemory[p]
	if m == nil {
		return nil
	}
	if !m.held {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("graph memory at %#x is not allocated after the work enqueued so far, or its own graph frees it", m.at)}
	}
	m.held = false
	return nil
}
