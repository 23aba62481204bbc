package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/ir"
)

// launchRecord is what kernel run reports.
type launchRecord struct {
	Kernel  string                `json:"kernel"`
	Device  string                `json:"device"`
	Grid    [3]uint32             `json:"grid"`
	Block   [3]uint32             `json:"block"`
	Shared  uint32                `json:"shared"` // dynamic, bytes
	TookUS  float64               `json:"took_us"`
	Sampled int64                 `json:"sampled,omitempty"` // blocks run, with --sample
	Buffers []launchBuffer        `json:"buffers"`           // after the launch; none with --sample or --profile
	Profile []bench.KernelProfile `json:"profile,omitempty"`

	took time.Duration
}

// launchBuffer is a buffer after the launch.
type launchBuffer struct {
	Argument int       `json:"argument"`
	Type     string    `json:"type"`
	Elements int64     `json:"elements"`
	File     string    `json:"file,omitempty"` // written there instead
	Values   []element `json:"values,omitempty"`

	of   ir.Type
	data []byte
}

// record describes the launch. The buffers are those of the arguments.
func (p *launchPlan) record(on device.Info, took time.Duration, sample int64) *launchRecord {
	r := &launchRecord{
		Kernel: p.kernel.Name, Device: on.ID, Grid: extents(p.grid), Block: extents(p.block), Shared: p.shared,
		TookUS: float64(took.Nanoseconds()) / 1000, Buffers: []launchBuffer{}, Profile: p.profile, took: took,
	}
	if sample > 0 {
		r.Sampled = min(sample, int64(p.grid.Count()))
	}
	if sample > 0 || p.profile != nil {
		return r
	}
	for i, a := range p.args {
		if a.buffer {
			r.Buffers = append(r.Buffers, launchBuffer{
				Argument: i, Type: a.elem.String(), Elements: int64(len(a.data)) / a.elem.Size(), File: p.outs[i], of: a.elem, data: a.data,
			})
		}
	}
	return r
}

// list lists the values of the buffers for JSON.
func (r *launchRecord) list() {
	for i := range r.Buffers {
		b := &r.Buffers[i]
		if b.File != "" {
			continue
		}
		for one := range slices.Chunk(b.data, int(b.of.Size())) {
			b.Values = append(b.Values, element{b.of, one})
		}
	}
}

func extents(d device.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }

// write prints the counts, the time of sampled blocks, or the buffers.
func (r *launchRecord) write(w io.Writer) error {
	switch {
	case r.Profile != nil:
		return bench.WriteProfile(w, r.Profile)
	case r.Sampled > 0:
		blocks := device.Dim3{X: r.Grid[0], Y: r.Grid[1], Z: r.Grid[2]}.Count()
		_, err := fmt.Fprintf(w, "%v on %s, virtual time; sampled, %d of %d blocks, no data computed\n", r.took, r.Device, r.Sampled, blocks)
		return err
	}
	for _, b := range r.Buffers {
		if b.File != "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "arg %d: %v[%d] = %s\n", b.Argument, b.Type, b.Elements, formatElements(b.of, b.data)); err != nil {
			return err
		}
	}
	return nil
}

// element is a value of a buffer: a number in JSON, and a string if it is infinite or not a number.
type element struct {
	of   ir.Type
	data []byte
}

// MarshalJSON implements json.Marshaler.
func (e element) MarshalJSON() ([]byte, error) {
	text := appendElement(nil, e.of, e.data)
	if _, err := strconv.ParseFloat(string(text), 64); err == nil && json.Valid(text) {
		return text, nil
	}
	return strconv.AppendQuote(nil, string(text)), nil
}
