package ranks

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Plan is a step that is distributed to all devices of the machine, with the memory and the commands of this rank.
type Plan struct {
	rank   *Rank
	plan   *distribute.Plan
	code   *code
	memory []*allocations // by device
	// scratch is memory of each device in which the lanes of Outs and Ins pack rows. A lane runs one operation after the other.
	scratch [][distribute.Lanes]device.Ptr
	lanes   [][distribute.Lanes]device.Stream // by device
	events  []event
	staged  []device.Ptr // pinned memory
	frozen  []transport.Exchange
	rounds  []round

	// Of plans that are run as graphs, all on the first device of the rank.
	execs []device.GraphExec
	// ends are recorded behind the graphs of a stream in turn. latest is that of the last graph, and before that of the last one
	// before the present segment.
	ends           [streams][2]device.Event
	latest, before [streams]int
	unrolled       part // several repetitions of the repeated rounds
	unrolledSteps  int
	bridges        []segment // by repeated round: to the next one
	bridged        bool      // the first segment of the next step has been launched
	ahead          bool      // the rest of the next segment has been submitted
	recorded       bool      // graphs of one stream wait for those of another, so that ends are recorded

	options Options
	origin  origins
	fresh   [][][]distribute.Held // by round, buffer: who holds its bytes behind it; made when used
	ports   ports
	steps   int  // that have been submitted
	loaded  bool // the first step has its contents
	failed  error
	closed  bool

	checkpoints checkpoints
}

// Options select how a step is distributed and run. The zero value is the default.
type Options struct {
	// Overlap selects the launches whose edge is run first, so that its transfers run beside the interior.
	Overlap distribute.Overlap
	// Streams runs the plan as command lists over the streams of each device, instead of as graphs with nodes of all
	// devices. Devices then wait for each other by events.
	Streams bool
	// Tiles cuts launches along two axes where their grids have them, so that a device has a tile of a matrix instead of rows.
	Tiles bool
}

// Compile distributes a trace and prepares it for this rank. It is collective. All ranks must have recorded the same trace:
// otherwise the error names the first operation that differs, on all ranks.
func (r *Rank) Compile(ctx context.Context, trace *tracer.Trace, o Options) (*Plan, error) {
	if trace == nil || trace.Graph == nil {
		return nil, r.fail(absent.Error("compile: the trace is nil or zero: pass what Finish returns"))
	}
	plan, err := distribute.New(trace.Graph, r.layout, distribute.Options{Overlap: o.Overlap, Tiles: o.Tiles})
	if agreed := r.agree(ctx, r.items(o, trace.Graph, plan, err)); agreed != nil {
		return nil, fmt.Errorf("compile: %w", agreed)
	}
	if err != nil {
		return nil, err
	}
	if err := distribute.Verify(plan); err != nil {
		return nil, fmt.Errorf("BUG: %w", err)
	}
	return r.Prepare(ctx, plan, o)
}

// Prepare prepares a plan for the machine of the rank, as Compile does with the plan that it makes. It is collective. All
// ranks must pass the same plan, and the caller must have verified it.
func (r *Rank) Prepare(ctx context.Context, plan *distribute.Plan, o Options) (*Plan, error) {
	p := &Plan{rank: r, plan: plan, code: newCode(plan.Graph, r.devices), origin: make(origins, len(plan.Graph.Buffers)), fresh: make([][][]distribute.Held, len(plan.Rounds)), options: o}
	if err := p.prepare(ctx); err != nil {
		return nil, r.fail(errors.Join(err, p.Close()))
	}
	return p, nil
}

// items returns what ranks must agree on: the options, the machine, each line of the trace, and the plan or its error.
func (r *Rank) items(o Options, g *ir.Graph, p *distribute.Plan, err error) (list []transport.Named) {
	add := func(name, text string) {
		list = append(list, transport.Named{Name: name, Hash: sha256.Sum256([]byte(text))})
	}
	add(fmt.Sprintf("options %+v", o), "")
	add("the machine", fmt.Sprint(r.layout.Devices, r.layout.Host))
	for _, m := range g.Modules {
		add("module "+m.Name, m.Source)
	}
	for _, line := range strings.Split(ir.Print(g), "\n") {
		add(strings.TrimSpace(line), line)
	}
	if err != nil {
		add("the error of the plan", err.Error())
		return list
	}
	add("the plan", p.String())
	return list
}

// prepare creates what the plan needs on the devices of the rank.
func (p *Plan) prepare(ctx context.Context) error {
	for d, dev := range p.rank.devices {
		m, err := allocate(dev, p.plan.Graph, p.plan.Memory[int(p.rank.first)+d])
		p.memory = append(p.memory, m)
		if err != nil {
			return p.at(d, err)
		}
		if err := p.allocateScratch(d, dev); err != nil {
			return p.at(d, err)
		}
		if err := p.createStreams(d, dev); err != nil {
			return p.at(d, err)
		}
	}
	return p.build(ctx)
}

// allocateScratch allocates the memory of a device in which rows are packed.
func (p *Plan) allocateScratch(d int, dev device.Device) error {
	p.scratch = append(p.scratch, [distribute.Lanes]device.Ptr{})
	for l, bytes := range p.plan.Scratch[int(p.rank.first)+d] {
		if bytes == 0 {
			continue
		}
		at, err := dev.Alloc(bytes)
		if err != nil {
			return fmt.Errorf("%d bytes of memory to pack rows in: %w", bytes, err)
		}
		p.scratch[d][l] = at
	}
	return nil
}

// createStreams creates the streams of a device, one for each lane but that of the host. All but that of the interior have the
// greatest priority: other devices wait for them, or they are short of blocks.
func (p *Plan) createStreams(d int, dev device.Device) error {
	var lanes [distribute.Lanes]device.Stream
	p.lanes = append(p.lanes, lanes)
	for l := range lanes {
		priority := dev.Info().GreatestPriority
		if distribute.Lane(l) == distribute.Compute {
			priority = dev.Info().LeastPriority
		}
		s, err := dev.CreateStream(priority)
		if err != nil {
			return err
		}
		p.lanes[d][l] = s
	}
	return nil
}

// at adds the rank and the device to an error.
func (p *Plan) at(d int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rank %d, device %d: %w", p.rank.Number(), d, err)
}

// Distribution returns the plan for all ranks.
func (p *Plan) Distribution() *distribute.Plan { return p.plan }

// String returns the text of the plan for all ranks.
func (p *Plan) String() string { return p.plan.String() }

// Why returns how each operation is distributed, and the reason, one line for each.
func (p *Plan) Why() string { return p.plan.Why() }

// Close waits for the devices of the rank and frees what the plan has created. It is not collective.
func (p *Plan) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	var errs []error
	note := func(d int, err error) { errs = append(errs, p.at(d, err)) }
	for d, dev := range p.rank.devices {
		note(d, dev.SynchronizeAll())
	}
	for _, x := range p.frozen {
		errs = append(errs, x.Close())
	}
	for _, one := range p.rounds {
		for _, s := range one.segments {
			for _, l := range s.lists {
				if l.compiled != 0 {
					note(l.device, p.rank.devices[l.device].DestroyCommandList(l.compiled))
				}
			}
		}
	}
	for _, x := range p.execs {
		note(0, p.rank.devices[0].DestroyGraphExec(x))
	}
	for _, e := range slices.Concat(p.ends[urgentStream][:], p.ends[restStream][:], p.ends[asideStream][:]) {
		if e != 0 {
			note(0, p.rank.devices[0].DestroyEvent(e))
		}
	}
	for _, e := range p.events {
		note(e.device, p.rank.devices[e.device].DestroyEvent(e.event))
	}
	for d, lanes := range p.lanes {
		for _, s := range lanes {
			if s != 0 {
				note(d, p.rank.devices[d].DestroyStream(s))
			}
		}
	}
	for d, m := range p.memory {
		note(d, m.free(p.rank.devices[d]))
	}
	for d, lanes := range p.scratch {
		for _, at := range lanes {
			if at != 0 {
				note(d, p.rank.devices[d].Free(at))
			}
		}
	}
	for _, at := range p.staged {
		note(0, p.rank.devices[0].Free(at))
	}
	errs = append(errs, p.code.unload())
	return first(errs)
}

// first returns the first error of a list. The others usually repeat it.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
