package tenancy

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/ir"
)

// super is a graph that runs a program for up to size instances.
type super struct {
	size  int
	graph device.Graph
	exec  device.GraphExec
	slots device.Ptr // addresses of rows, in device memory
	// staging is pinned memory from which the slots are copied. A cohort has one round in flight, so the copy of the last
	// one has ended when the next is prepared.
	staging staging
	rows    []device.Ptr // that the slots hold
	used    int          // count of the cache's uses at the last one
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

// newSuper builds the graph of a template for a number of instances.
func newSuper(dev device.Device, t *template, size int) (_ *super, err error) {
	s := &super{size: size, bytes: int64(len(t.nodes))*nodeBytes + int64(size)*slotBytes}
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
	nodes := make([]device.Node, len(t.nodes))
	for i := range t.nodes {
		n := &t.nodes[i]
		var deps []device.Node
		for _, d := range n.deps {
			deps = append(deps, nodes[d])
		}
		if nodes[i], err = dev.AddNode(s.graph, deps, s.work(t, n)); err != nil {
			return s, err
		}
	}
	s.exec, err = dev.Instantiate(s.graph)
	return s, err
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

// prepare returns the copy that sets the slots to the rows of the members, or nil if they hold these rows already. Slots
// beyond the members are 0, and their blocks leave at once.
func (s *super) prepare(members []*Tenant) *device.Copy {
	if s.holds(members) {
		return nil
	}
	clear(s.staging.bytes)
	s.rows = s.rows[:0]
	for i, m := range members {
		binary.LittleEndian.PutUint64(s.staging.bytes[i*slotBytes:], uint64(m.row))
		s.rows = append(s.rows, m.row)
	}
	return &s.staging.copy
}

// holds reports whether the slots hold the rows of the members, in any order.
func (s *super) holds(members []*Tenant) bool {
	return len(members) == len(s.rows) && !slices.ContainsFunc(members, func(t *Tenant) bool { return !slices.Contains(s.rows, t.row) })
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
