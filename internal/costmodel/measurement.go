package costmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// Measurement holds the demands of the launches of a program, as counted on a device. It is stored as
// JSON, and applies to plans of the same program.
type Measurement struct {
	Program  string         `json:"program"`
	Hash     string         `json:"program_hash"` // of the operations, which distinguishes programs of other sizes
	Device   string         `json:"device"`       // id of the profile
	Launches []Launch       `json:"launches"`     // all launches, in program order
	profile  *model.Profile // nil if the measurement was parsed
}

// Launch is the demand of one launch.
type Launch struct {
	Op     ir.OpID      `json:"op"` // its index in program order, from 0
	Kernel string       `json:"kernel"`
	Demand model.Demand `json:"demand"`
}

// NewMeasurement returns a measurement of g on a device with profile p from the demands of its launches, in program
// order.
func NewMeasurement(g *ir.Graph, p *model.Profile, launches []model.Demand) (*Measurement, error) {
	switch {
	case g == nil:
		return nil, absent.Nil("the graph")
	case p == nil:
		return nil, absent.Nil("the profile")
	}
	m := &Measurement{Program: g.Name, Hash: programHash(g), Device: p.ID, profile: p}
	for v := range g.Ops {
		l := g.Ops[v].Launch
		if l == nil {
			continue
		}
		if len(launches) > len(m.Launches) {
			m.Launches = append(m.Launches, Launch{ir.OpID(v), l.Entry, launches[len(m.Launches)]})
			continue
		}
		return nil, fmt.Errorf("there are demands of %d launches, and %s has more: measure a whole run of it", len(launches), g.Name)
	}
	if len(launches) > len(m.Launches) {
		return nil, fmt.Errorf("there are demands of %d launches, and %s has %d: measure one run of it", len(launches), g.Name, len(m.Launches))
	}
	return m, nil
}

// Profile returns the profile of the device, or an error if it is unknown.
func (m *Measurement) Profile() (*model.Profile, error) {
	if m.profile != nil {
		return m.profile, nil
	}
	return profiles.Lookup(m.Device)
}

// programHash returns a hash of the operations of a program, in 16 hexadecimal digits. It excludes the source of
// modules, positions, labels and dependencies.
func programHash(g *ir.Graph) string {
	modules := slices.Clone(g.Modules)
	for i := range modules {
		modules[i].Source = ""
	}
	h := fnv.New64a()
	io.WriteString(h, ir.Print(bare(g, modules)))
	return fmt.Sprintf("%016x", h.Sum64())
}

// bare returns a graph, and its bodies, without dependencies, positions and labels.
func bare(g *ir.Graph, modules []ir.Module) *ir.Graph {
	b := &ir.Graph{Buffers: g.Buffers, Params: g.Params, Modules: modules, Shapes: g.Shapes, Ops: slices.Clone(g.Ops)}
	for i := range b.Ops {
		op := &b.Ops[i]
		op.Pos, op.Label = nil, ""
		if op.Control == nil {
			continue
		}
		c := *op.Control
		c.Bodies = slices.Clone(c.Bodies)
		for k, body := range c.Bodies {
			c.Bodies[k] = bare(body, modules)
		}
		op.Control = &c
	}
	return b
}

// ParseMeasurement parses the JSON of a measurement.
func ParseMeasurement(text []byte) (*Measurement, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	m := &Measurement{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("not measured costs: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("not measured costs: more text follows the JSON object")
	}
	return m, nil
}

// Check returns an error unless m is a complete measurement of g on a device with profile p.
func (m *Measurement) Check(g *ir.Graph, p *model.Profile) error {
	switch {
	case g == nil:
		return absent.Nil("the graph")
	case p == nil:
		return absent.Nil("the profile")
	}
	const remedy = "measure again with reprise explain --cost"
	if m.Device != p.ID {
		return fmt.Errorf("the costs were measured on sim:%s, but the plan is for sim:%s: choose sim:%s with --device, or %s", m.Device, p.ID, m.Device, remedy)
	}
	if hash := programHash(g); m.Hash != hash {
		return fmt.Errorf("the costs were measured for program %s (hash %s), but the program is %s (hash %s): %s", m.Program, m.Hash, g.Name, hash, remedy)
	}
	launches := m.Launches
	for v := range g.Ops {
		switch {
		case g.Ops[v].Launch == nil:
			continue
		case len(launches) == 0 || launches[0].Op != ir.OpID(v):
			return fmt.Errorf("costs are missing for %v, a launch of %s: %s", ir.OpID(v), g.Ops[v].Launch.Entry, remedy)
		}
		if err := des.CheckKernel(&launches[0].Demand, p); err != nil {
			return fmt.Errorf("the costs of %v, a launch of %s: %w", ir.OpID(v), g.Ops[v].Launch.Entry, err)
		}
		launches = launches[1:]
	}
	if len(launches) > 0 {
		return fmt.Errorf("there are costs for %v, which is not a launch of the program: %s", launches[0].Op, remedy)
	}
	return nil
}
