package optimizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// Measurement is what the launches of a replay asked of the device it ran on. Its JSON is
// what MeasuredCosts plans later runs of the program by.
type Measurement struct {
	Program  string           `json:"program"`
	Hash     string           `json:"program_hash"` // of its operations: costs of another size would look as good
	Device   string           `json:"device"`       // id of the profile
	Launches []MeasuredLaunch `json:"launches"`     // all there are, in program order
	profile  *model.Profile   // nil of one that was read
}

// MeasuredLaunch is one launch.
type MeasuredLaunch struct {
	Op     ir.OpID      `json:"op"` // in program order, from 0
	Kernel string       `json:"kernel"`
	Demand model.Demand `json:"demand"`
}

// NewMeasurement is a measurement of g on a device of that profile, without launches yet.
func NewMeasurement(g *ir.Graph, p *model.Profile) *Measurement {
	return &Measurement{Program: g.Name, Hash: programHash(g), Device: p.ID, profile: p}
}

// Add adds the next launch of g.
func (m *Measurement) Add(g *ir.Graph, v ir.OpID, d model.Demand) {
	m.Launches = append(m.Launches, MeasuredLaunch{v, g.Ops[v].Launch.Entry, d})
}

// device is the profile of the device.
func (m *Measurement) device() (*model.Profile, error) {
	if m.profile != nil {
		return m.profile, nil
	}
	return model.Lookup(m.Device)
}

// programHash is a hash of what a program does, in 16 hexadecimal digits: of neither its code
// nor the lines that issued it, nor of what its analysis found.
func programHash(g *ir.Graph) string {
	bare := &ir.Graph{Buffers: g.Buffers, Params: g.Params, Modules: slices.Clone(g.Modules), Ops: slices.Clone(g.Ops)}
	for i := range bare.Modules {
		bare.Modules[i].Source = ""
	}
	for i := range bare.Ops {
		bare.Ops[i].Pos, bare.Ops[i].Label = ir.Position{}, ""
	}
	h := fnv.New64a()
	io.WriteString(h, ir.Print(bare))
	return fmt.Sprintf("%016x", h.Sum64())
}

// ParseMeasurement reads the JSON of a measurement.
func ParseMeasurement(text []byte) (*Measurement, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	m := &Measurement{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("these are no measured costs: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("these are no measured costs alone: there is more behind them")
	}
	return m, nil
}

// Check says why the measurement is not one of g on a device of that profile.
func (m *Measurement) Check(g *ir.Graph, p *model.Profile) error {
	switch {
	case g == nil:
		return absent.Nil("the graph")
	case p == nil:
		return absent.Nil("the profile")
	}
	const remedy = "measure again with reprise explain --cost"
	if m.Device != p.ID {
		return fmt.Errorf("the costs were measured on sim:%s, and the plan is for sim:%s: choose that with --device, or %s", m.Device, p.ID, remedy)
	}
	if hash := programHash(g); m.Hash != hash {
		return fmt.Errorf("the costs were measured of another program, %s with the hash %s, where this is %s with %s: %s", m.Program, m.Hash, g.Name, hash, remedy)
	}
	launches := m.Launches
	for v := range g.Ops {
		switch {
		case g.Ops[v].Launch == nil:
			continue
		case len(launches) == 0 || launches[0].Op != ir.OpID(v):
			return fmt.Errorf("there are no costs of %v, a launch of %s: %s", ir.OpID(v), g.Ops[v].Launch.Entry, remedy)
		}
		if err := launches[0].Demand.CheckKernel(p); err != nil {
			return fmt.Errorf("the costs of %v, a launch of %s: %w", ir.OpID(v), g.Ops[v].Launch.Entry, err)
		}
		launches = launches[1:]
	}
	if len(launches) > 0 {
		return fmt.Errorf("there are costs of %v, which the program does not launch there: %s", launches[0].Op, remedy)
	}
	return nil
}
