package tenancy

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/ir"
)

// super is a graph that runs a program for up to size instances. Each instance has a slot, and its member has a copy node
// for each copy between the host and the device:
//
//	slot 0   copy in ─┐            ┌─► copy out
//	slot 1   copy in ─┴─► kernel ──┴─► copy out
type super struct {
	size  int
	graph device.Graph
	exec  device.GraphExec
	slots device.Ptr // addresses of rows, in device memory
	// nodes holds the nodes of the graph, by node of the template: one for each slot if it is a copy, and else one.
	nodes [][]device.Node
	seats []*Tenant // the members, by slot; nil for slots whose row is 0 and whose copies do nothing
	taken int       // seats that are not nil
	// staging is pinned memory from which the slots are copied. A cohort has one round in flight, so the copy of the last
	// one has ended when the next is prepared.
	staging staging
	used    int // count of the cache's uses at the last one
	bytes   int64
}

type staging struct {
	at    device.Ptr
	bytes []byte
	copy  device.Copy // to the slots
}

const (
	slotBytes = 8
	// nodeBytes is what an instantiated node takes in the driver: an estimate, not measured.
	nodeBytes = 4096
)

// newSuper builds the graph of a template for a number of instances. All slots have the copies of the first member,
// because a node that is made without work cannot get any later on a GPU. The next call of prepare replaces them.
func newSuper(dev device.Device, t *template, size int, first *Tenant) (_ *super, err error) {
	s := &super{size: size, bytes: int64(size) * slotBytes, seats: make([]*Tenant, size)}
	defer func() {
		if err != nil {
			err = device.Join(fmt.Errorf("graph of %d instances: %w", size, err), s.close(dev))
		}
	}()
	if s.slots, err = dev.Alloc(int64(size) * slotBytes); err != nil {
		return s, err
	}
	if s.staging.at, s.staging.bytes, err = dev.AllocHost(int64(size) * slotBytes); err != nil {
		return s, err
	}
	s.staging.copy = device.Copy{Dst: s.slots, Src: s.staging.at, Bytes: int64(size) * slotBytes, Label: "members of a round"}
	if s.graph, err = dev.CreateGraph(); err != nil {
		return s, err
	}
	for i := range t.nodes {
		if err = s.add(dev, t, &t.nodes[i], first); err != nil {
			return s, err
		}
	}
	if s.exec, err = dev.Instantiate(s.graph); err != nil {
		return s, err
	}
	return s, s.update(dev, t, allSlots(size), first)
}

// add appends the nodes of a node of the template. A copy depends on copies of its own slot.
func (s *super) add(dev device.Device, t *template, n *node, first *Tenant) error {
	count := 1
	if n.copy != nil {
		count = s.size
	}
	nodes := make([]device.Node, count)
	for slot := range nodes {
		var deps []device.Node
		for _, d := range n.deps {
			if before := s.nodes[d]; n.copy != nil && t.nodes[d].copy != nil {
				deps = append(deps, before[slot])
			} else {
				deps = append(deps, before...)
			}
		}
		work := s.work(t, n)
		if n.copy != nil {
			work = copyOf(n, first, true)
		}
		var err error
		if nodes[slot], err = dev.AddNode(s.graph, deps, work); err != nil {
			return err
		}
	}
	s.nodes = append(s.nodes, nodes)
	s.bytes += int64(count) * nodeBytes
	return nil
}

// copyOf returns the copy of a member, or one that does nothing.
func copyOf(n *node, of *Tenant, on bool) *device.Copy {
	c := lower.Work(n.copy, &lower.Settings{}, of).(*device.Copy) // the copy is not empty
	if !on {
		c.Bytes = 0
	}
	return c
}

// update sets the copies of slots to those of their members. some is any member.
func (s *super) update(dev device.Device, t *template, slots []int, some *Tenant) error {
	var changes []device.NodeWork
	for i := range t.nodes {
		if t.nodes[i].copy == nil {
			continue
		}
		for _, slot := range slots {
			of := cmp.Or(s.seats[slot], some)
			changes = append(changes, device.NodeWork{Node: s.nodes[i][slot], Work: copyOf(&t.nodes[i], of, s.seats[slot] != nil)})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return dev.UpdateNodes(s.exec, changes)
}

func allSlots(size int) (slots []int) {
	for i := range size {
		slots = append(slots, i)
	}
	return slots
}

// work returns the launch of a node for all instances.
func (s *super) work(t *template, n *node) device.Work {
	if n.kernel == nil {
		return device.Nothing{}
	}
	grid := n.kernel.result.Table.Grid(s.size)
	return &device.Launch{
		Function: n.kernel.function, Grid: device.Dim3{X: grid[0], Y: grid[1], Z: grid[2]}, Block: device.Dim3(n.launch.Block), Shared: n.launch.Shared, Params: s.params(n),
		Label: fmt.Sprintf("%s, %d instances", n.launch.Entry, s.size),
	}
}

// params returns the parameter block of the launch of a node.
func (s *super) params(n *node) []byte {
	var args []ir.Arg
	for _, o := range n.kernel.result.Params {
		a := ir.Arg{}
		switch o.Kind {
		case rewrite.TableAddress:
			a.Scalar = ir.Scalar{Type: ir.U64, Bits: uint64(s.slots)}
		case rewrite.RowOffset:
			a.Scalar = ir.Scalar{Type: ir.U32, Bits: uint64(n.offset)}
		default:
			a = n.launch.Args[o.Param]
		}
		args = append(args, a)
	}
	return lower.Params(args, nil) // all are scalars
}

// prepare seats the members, and returns the copy that sets the slots to their rows, or nil if they are seated already. A
// slot without a member is 0, and its blocks leave at once.
func (s *super) prepare(dev device.Device, t *template, members []*Tenant) (*device.Copy, error) {
	if s.holds(members) {
		return nil, nil
	}
	if err := s.update(dev, t, s.seat(members), members[0]); err != nil {
		return nil, err
	}
	clear(s.staging.bytes)
	for i, m := range s.seats {
		if m != nil {
			binary.LittleEndian.PutUint64(s.staging.bytes[i*slotBytes:], uint64(m.row))
		}
	}
	return &s.staging.copy, nil
}

// seat gives every member a slot, and returns the slots that change. Members that have one keep it.
func (s *super) seat(members []*Tenant) (changed []int) {
	fresh := slices.DeleteFunc(slices.Clone(members), func(m *Tenant) bool { return slices.Contains(s.seats, m) })
	for slot, m := range s.seats {
		if slices.Contains(members, m) {
			continue
		}
		s.seats[slot] = nil
		if len(fresh) > 0 {
			s.seats[slot], fresh = fresh[0], fresh[1:]
		}
		if s.seats[slot] != m {
			changed = append(changed, slot)
		}
	}
	s.taken = len(members)
	return changed
}

// holds reports whether exactly the members are seated.
func (s *super) holds(members []*Tenant) bool {
	return len(members) == s.taken && !slices.ContainsFunc(members, func(t *Tenant) bool { return !slices.Contains(s.seats, t) })
}

func (s *super) close(dev device.Device) error {
	var errs []error
	if s.exec != 0 {
		errs = append(errs, dev.DestroyGraphExec(s.exec))
	}
	if s.graph != 0 {
		errs = append(errs, dev.DestroyGraph(s.graph))
	}
	for _, p := range []device.Ptr{s.slots, s.staging.at} {
		if p != 0 {
			errs = append(errs, dev.Free(p))
		}
	}
	*s = super{}
	return device.Join(errs...)
}
