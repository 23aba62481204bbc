package timings

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/ir"
)

// Device identifies what times were measured on. Times of different devices are never merged.
type Device struct {
	ID        string `json:"id"`   // as --device has it: "gpu0", "sim:h200"
	Name      string `json:"name"` // "NVIDIA H200"
	Driver    string `json:"driver"`
	Simulated bool   `json:"simulated"` // times are virtual
}

func (d Device) String() string { return fmt.Sprintf("%s (%s, driver %s)", d.ID, d.Name, d.Driver) }

// DeviceError is the error of merging the times of two devices.
type DeviceError struct{ Have, Other Device }

func (e *DeviceError) Error() string {
	return fmt.Sprintf("the times are of %v, and the new ones of %v: write those to another file", e.Have, e.Other)
}

// Timings holds the times of programs on one device. One goroutine at a time may use it.
type Timings struct {
	Device   Device
	Date     time.Time // of the latest measurement; only the day is stored
	programs map[signature.Hash]*Program
	kernels  map[Kernel]*Record // of all programs, by demand; nil entries are kernels without times
}

// Program holds the times of one program.
type Program struct {
	Name     string
	Nodes    map[ir.OpID]*Record
	Gaps     map[int]*Sketch // by sync point
	Replays  *Sketch         // from the submission of a replay to the return of the wait for it, on the host's clock
	Arrivals *Sketch         // from one submission to the next
}

func newProgram(name string) *Program {
	return &Program{Name: name, Nodes: map[ir.OpID]*Record{}, Gaps: map[int]*Sketch{}, Replays: NewSketch(), Arrivals: NewSketch()}
}

// New returns empty timings of a device.
func New(d Device, date time.Time) *Timings {
	return &Timings{Device: d, Date: day(date), programs: map[signature.Hash]*Program{}}
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Program returns the times of a program, and nil if there are none. The caller may record in its sketches.
func (t *Timings) Program(s signature.Hash) *Program { return t.programs[s] }

// Add returns the times of a program, and adds them without any times if there are none.
func (t *Timings) Add(s signature.Hash, name string) *Program {
	p := t.programs[s]
	if p == nil {
		p = newProgram(name)
		t.programs[s] = p
	}
	t.kernels = nil // the caller may add nodes
	return p
}

// Gap returns the times of a gap, and nil if there are none.
func (t *Timings) Gap(g Gap) *Sketch {
	if p := t.programs[g.Program]; p != nil {
		return p.Gaps[g.Sync]
	}
	return nil
}

// Node returns the record of an operation, and nil if there is none.
func (t *Timings) Node(n Node) *Record {
	if p := t.programs[n.Program]; p != nil {
		return p.Nodes[n.Op]
	}
	return nil
}

// Kernel returns the record of all operations with a kernel, in all programs, and nil if there is none. The result is
// kept until the next Add or Merge: times that are recorded in between are missing.
func (t *Timings) Kernel(k Kernel) *Record {
	if k == (Kernel{}) {
		return nil
	}
	if t.kernels == nil {
		t.kernels = map[Kernel]*Record{}
	}
	r, ok := t.kernels[k]
	if !ok {
		r = t.pool(k)
		t.kernels[k] = r
	}
	return r
}

// pool merges the records of all operations with a kernel.
func (t *Timings) pool(k Kernel) (all *Record) {
	for _, s := range t.signatures() {
		p := t.programs[s]
		for _, v := range slices.Sorted(maps.Keys(p.Nodes)) {
			switch r := p.Nodes[v]; {
			case r.Kernel != k || r.Time.Count() == 0:
			case all == nil:
				all = r.clone()
			default:
				all.merge(r)
			}
		}
	}
	return all
}

// signatures returns the signatures of the programs, in a fixed order.
func (t *Timings) signatures() []signature.Hash {
	return slices.SortedFunc(maps.Keys(t.programs), func(a, b signature.Hash) int {
		return cmp.Or(cmp.Compare(t.programs[a].Name, t.programs[b].Name), bytes.Compare(a[:], b[:]))
	})
}

// From states where the times of an operation come from.
type From uint8

// The sources of times, in the order in which Find tries them.
const (
	FromNode   From = iota // the operation itself
	FromKernel             // operations with the same kernel
	FromModel              // a cost model
)

var fromNames = [...]string{"node", "kernel", "model"}

// String returns "node", "kernel" or "model".
func (f From) String() string { return fromNames[f] }

// Find returns the times of operation v of g, which must be as it was recorded, and where they are from: the operation
// itself if it was measured, operations with the same kernel, or else the model. Program is the signature of g.
func (t *Timings) Find(program signature.Hash, g *ir.Graph, v ir.OpID, m *Model) (*Record, From) {
	if r := t.Node(Node{program, v}); r != nil && r.Time.Count() > 0 {
		return r, FromNode
	}
	if r := t.Kernel(KernelOf(g, v)); r != nil {
		return r, FromKernel
	}
	return m.Record(g, v), FromModel
}

// Merge adds the times of o, measured on the same device. Otherwise the error is a *DeviceError.
func (t *Timings) Merge(o *Timings) error {
	if t.Device != o.Device {
		return &DeviceError{t.Device, o.Device}
	}
	if o.Date.After(t.Date) {
		t.Date = o.Date
	}
	for s, p := range o.programs {
		t.Add(s, p.Name).merge(p)
	}
	return nil
}

func (p *Program) merge(o *Program) {
	for v, r := range o.Nodes {
		if have := p.Nodes[v]; have != nil {
			have.merge(r)
		} else {
			p.Nodes[v] = r.clone()
		}
	}
	for at, s := range o.Gaps {
		p.Gap(at).Merge(s)
	}
	p.Replays.Merge(o.Replays)
	p.Arrivals.Merge(o.Arrivals)
}

// Gap returns the sketch of a sync point, and adds it if there is none.
func (p *Program) Gap(sync int) *Sketch {
	s := p.Gaps[sync]
	if s == nil {
		s = NewSketch()
		p.Gaps[sync] = s
	}
	return s
}
