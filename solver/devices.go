package solver

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/sparse"
	"github.com/reprise-gpu/reprise/tracer"
)

// memory is where the buffers of a run are.
type memory interface {
	write(to Vector, data []byte) error
	read(data []byte, from Vector) error
}

// oneDevice is the memory of one device, in which the tracer allocates.
type oneDevice struct{}

func (oneDevice) write(to Vector, data []byte) error  { return tracer.Write(to, data) }
func (oneDevice) read(data []byte, from Vector) error { return tracer.Read(data, from) }

// severalDevices is the memory of the devices that share the iterations of a run. Reads are collective, and end with ctx.
type severalDevices struct {
	ctx  context.Context
	plan *ranks.Plan
}

// write writes the part that devices of this rank access.
func (m *severalDevices) write(to Vector, data []byte) error {
	r := to.Range()
	lo, hi := m.plan.Part(r.Buffer)
	part := ir.Range{Buffer: r.Buffer, Lo: max(lo, r.Lo), Hi: min(hi, r.Hi)}
	if part.Empty() {
		return nil
	}
	return m.plan.Write(part, data[part.Lo-r.Lo:part.Hi-r.Lo])
}

func (m *severalDevices) read(data []byte, from Vector) error {
	return m.plan.Read(m.ctx, data, from.Range())
}

// machineInfo describes the machine of a rank, for results.
func machineInfo(r *ranks.Rank) device.Info {
	info := device.Info{ID: r.Machine().ID, Simulated: true}
	for _, d := range r.Devices() {
		info.Simulated = info.Simulated && d.Info().Simulated
	}
	return info
}

// distribute makes each iteration a step that all devices of a machine share. It is collective.
func (r *run) distribute(ctx context.Context, o *Options) (err error) {
	if r.distributed, err = o.Devices.Compile(ctx, r.trace, ranks.Options{Streams: o.Mode == Streams}); err != nil {
		return err
	}
	r.memory = &severalDevices{ctx, r.distributed}
	r.lanes = r.devices
	return r.shared.splits(o.Method.Name, r.distributed.Distribution())
}

// splits returns an error unless the devices share each launch of more than one block.
func (s *shared) splits(method string, p *distribute.Plan) error {
	if s.devices == 1 {
		return nil
	}
	for v := range p.Decisions {
		op, d := &p.Graph.Ops[v], &p.Decisions[v]
		if op.Kind == ir.KindLaunch && op.Launch.Grid.Count() > 1 && d.How != distribute.Split {
			return &MethodError{
				Method: method, Operation: op.Launch.Entry, Reason: "several devices cannot share this launch, because " + d.Why, Remedy: oneDeviceRemedy,
			}
		}
	}
	return nil
}

const oneDeviceRemedy = "leave out Options.Devices, or use another method"

// shares is the shape of launches that several devices share. Each block has consecutive elements. The number of blocks is a
// multiple of that of devices, and those over rows are a multiple of those over vectors, so that a device has the
// same rows in all launches.
type shares struct {
	vectors, rows int // blocks of launches over vectors and over rows
	per           int // rows of a block of a launch over rows
}

func (s *System) shares() shares {
	most := maxBlocks * s.devices
	v := min(roundUp((s.N+threads-1)/threads, s.devices), most)
	elements := ((s.N+threads-1)/threads + v - 1) / v * threads // of a block over vectors
	several := 1
	for several < s.lanes && 2*several*v <= most {
		several *= 2
	}
	return shares{vectors: v, rows: several * v, per: elements / several}
}

// build returns the name of the build of a module: kernels that go over vectors have another one for launches that several
// devices share.
func (s *System) build(module string) string {
	switch module {
	case "spmv", "vector", "eigen", "time", "kept":
		if s.devices > 0 {
			return module + ".parts"
		}
	}
	return module
}

// operands returns the first arguments of a launch over the rows of a matrix.
func (s *System) operands(m matrix) []any {
	list := []any{m.ptr, m.col, m.val}
	if s.devices > 0 {
		list = append(append(list, m.band...), s.shares().per)
	}
	return list
}

// band bounds the indices of a matrix, see kernels/rows.cuh. The bytes that a range of rows accesses follow from it: of the
// matrix, its elements with a margin, and of a vector, the elements that are up to below and above away.
type band struct {
	slope       int64 // elements per row, times 2^16
	early, late int32 // by how many elements a row begins before and behind the position that follows from the slope
	below       int32 // the farthest column on the left of the diagonal
	above       int32 // and on the right
}

func bandOf(a *sparse.CSR) band {
	b := band{slope: int64(math.Round(float64(len(a.Val)) / float64(max(1, a.Rows)) * (1 << 16)))}
	for i, at := range a.Ptr {
		expected := int32(int64(i) * b.slope >> 16)
		b.early, b.late = max(b.early, expected-at), max(b.late, at-expected)
	}
	for i := range a.Rows {
		cols, _ := a.Row(i)
		for _, c := range cols {
			b.below, b.above = max(b.below, int32(i)-c), max(b.above, c-int32(i))
		}
	}
	return b
}

func (b band) arguments() []any { return []any{b.slope, b.early, b.late, b.below, b.above} }

// maxShared bounds the threads over the rows of a matrix, and its elements, so that indices of 32 bits suffice.
const maxShared = 1 << 30

// checkDevices returns an error for options that exclude each other, and for what several devices cannot solve.
func (o *Options) checkDevices() error {
	if o.Devices == nil {
		return nil
	}
	for _, c := range []struct {
		ok     bool
		option string
		value  any
		want   string
	}{
		{o.Mode == Graph || o.Mode == Streams, "Mode", o.Mode, "use graph or streams: with Devices these modes exist"},
		{o.Strategy == "auto", "Strategy", o.Strategy, "leave it out: it is for one device"},
		{len(o.Also) == 0, "Also", o.Also, "leave it out: it is for one device"},
	} {
		if !c.ok {
			return &OptionError{c.option, c.value, c.want}
		}
	}
	if o.Method.alone != "" {
		return &MethodError{Method: o.Method.Name, Reason: "several devices cannot share an iteration, because " + o.Method.alone, Remedy: oneDeviceRemedy}
	}
	return nil
}

// fits returns an error for a system that is too large for the indices of shared launches.
func (s *System) fits() error {
	switch {
	case s.devices == 0:
		return nil
	case s.N*s.lanes > maxShared:
		return fmt.Errorf("%d unknowns with %d threads for each row: several devices share at most %d threads: use fewer Lanes", s.N, s.lanes, maxShared)
	case len(s.p.a.Val) > maxShared:
		return fmt.Errorf("the matrix has %d elements: several devices share at most %d", len(s.p.a.Val), maxShared)
	}
	return nil
}

// devices returns the number of devices that share each launch, 0 without Options.Devices.
func (o *Options) devices() (n int) {
	if o.Devices != nil {
		n = o.Devices.Machine().Devices()
	}
	return n
}

// info describes the device, or the machine.
func (o *Options) info(dev device.Device) device.Info {
	if o.Devices != nil {
		return machineInfo(o.Devices)
	}
	return dev.Info()
}

// clock returns the clock of the device, or that of the first device of the rank.
func (o *Options) clock(dev device.Device) func() time.Duration {
	if o.Devices != nil {
		return o.Devices.Now
	}
	return dev.Now
}
