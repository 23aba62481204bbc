package tenancy

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// template is the program of a cohort, in the form from which graphs are built.
type template struct {
	graph    *ir.Graph // reduced
	nodes    []node    // the operations, in program order
	rowBytes int64     // arguments of one tenant
	kernels  map[kernelKey]*kernel
	modules  []device.Module
	reason   string // why there are no super-graphs; "" if there are
}

// node is an operation of the program: a kernel that runs for all instances, a copy for each of them, or nothing.
type node struct {
	deps   []int      // nodes before it
	copy   *ir.Op     // between the host and the device; nil for others
	launch *ir.Launch // nil for copies, and where nothing runs
	kernel *kernel    // of the launch
	offset int64      // of its arguments in a row
}

// kernelKey identifies a kernel that was rewritten for a grid.
type kernelKey struct {
	module ir.ModuleID // moves is -1
	entry  string
	grid   ir.Dim3
	equal  string // by parameter: whether it is equal for all instances
}

// kernel is a kernel that runs instances from rows.
type kernel struct {
	result   *rewrite.Result
	function device.Function
}

//go:embed moves.ptx
var movesPTX string

const movesModule ir.ModuleID = -1

// newTemplate rewrites the kernels of a program. If that is not possible, the template has a reason and no nodes.
func newTemplate(dev device.Device, g *ir.Graph) (*template, error) {
	planned, err := optimizer.Plan(g, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	t := &template{graph: planned.Reduced, kernels: map[kernelKey]*kernel{}}
	if t.reason = t.divide(); t.reason != "" {
		return t, nil
	}
	sources := map[ir.ModuleID]*ptx.Module{}
	for i := range t.nodes {
		if t.reason, err = t.rewrite(dev, &t.nodes[i], sources); t.reason != "" || err != nil {
			return t, device.Join(err, t.close(dev))
		}
	}
	return t, nil
}

// divide sets the nodes, one for each operation. It returns why it cannot.
func (t *template) divide() string {
	g := t.graph
	for v := range g.Ops {
		id, op := ir.OpID(v), &g.Ops[v]
		var n node
		switch op.Kind {
		case ir.KindHost, ir.KindLoop, ir.KindBranch, ir.KindPrefetch:
			return fmt.Sprintf("operation %v is a %v", id, op.Kind)
		case ir.KindCopy:
			switch onDevice, onHost := ends(g, op.Copy); {
			case op.Copy.Dst.Empty():
			case onDevice == 1 && onHost == 1:
				n.copy = op
			case onDevice != 2:
				return fmt.Sprintf("copy %v is neither from nor to memory of the device", id)
			}
		}
		if n.copy == nil {
			n.launch = asLaunch(op)
		}
		for _, d := range g.DepsInto(id) {
			n.deps = append(n.deps, int(d.From))
		}
		t.nodes = append(t.nodes, n)
	}
	return ""
}

// ends returns how many of the two ranges of a copy are in memory of the device, and how many in ordinary memory of the
// host.
func ends(g *ir.Graph, c *ir.Copy) (onDevice, onHost int) {
	for _, r := range []ir.Range{c.Src, c.Dst} {
		switch g.Buffers[r.Buffer].Place.Kind {
		case ir.OnDevice:
			onDevice++
		case ir.PinnedHost, ir.PageableHost:
			onHost++
		}
	}
	return onDevice, onHost
}

const (
	moveThreads = 256
	moveBlocks  = 1024 // at most
)

// asLaunch returns an operation as the launch of a kernel: fills and copies become launches of moves.ptx. It returns nil
// if nothing runs.
func asLaunch(op *ir.Op) *ir.Launch {
	pointer := func(r ir.Range) ir.Arg { return ir.Arg{Kind: ir.ArgBuffer, Buffer: r.Buffer, Offset: r.Lo} }
	move := func(entry string, n int64, args ...ir.Arg) *ir.Launch {
		blocks := min((n+moveThreads-1)/moveThreads, moveBlocks)
		args = append(args, ir.Arg{Scalar: ir.Scalar{Type: ir.U64, Bits: uint64(n)}})
		return &ir.Launch{Module: movesModule, Entry: entry, Grid: ir.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: ir.Dim3{X: moveThreads, Y: 1, Z: 1}, Args: args}
	}
	switch op.Kind {
	case ir.KindLaunch:
		return op.Launch
	case ir.KindMemset:
		m := op.Memset
		if m.Dst.Empty() {
			return nil
		}
		width := m.Value.Type.Size()
		value := ir.Arg{Scalar: ir.Scalar{Type: ir.U32, Bits: m.Value.Bits & (1<<32 - 1)}}
		return move(fmt.Sprint("fill", width), (m.Dst.Hi-m.Dst.Lo)/width, pointer(m.Dst), value)
	case ir.KindCopy:
		c := op.Copy
		n := c.Dst.Hi - c.Dst.Lo
		switch {
		case n == 0:
			return nil
		case n%4 == 0 && c.Dst.Lo%4 == 0 && c.Src.Lo%4 == 0:
			return move("copy4", n/4, pointer(c.Dst), pointer(c.Src))
		}
		return move("copy1", n, pointer(c.Dst), pointer(c.Src))
	}
	return nil
}

// rewrite sets the kernel of a node and the place of its arguments in a row. It returns why it cannot.
func (t *template) rewrite(dev device.Device, n *node, sources map[ir.ModuleID]*ptx.Module) (reason string, err error) {
	if n.launch == nil {
		return "", nil
	}
	key := kernelKey{module: n.launch.Module, entry: n.launch.Entry, grid: n.launch.Grid, equal: equalArgs(n.launch.Args)}
	k, ok := t.kernels[key]
	if !ok {
		source, err := t.source(key.module, sources)
		if err != nil {
			return "", err
		}
		result, err := rewrite.Batch(source, key.entry, rewrite.BatchOptions{
			Source: rewrite.FromRows, Equal: equals(n.launch.Args), Grid: [3]uint32{key.grid.X, key.grid.Y, key.grid.Z}, Instances: 1,
		})
		if err != nil {
			return err.Error(), nil
		}
		if i := slices.IndexFunc(result.Variables, func(v rewrite.Variable) bool { return v.Written }); i >= 0 {
			return fmt.Sprintf("kernel %s writes module variable %s, which the instances would share", key.entry, result.Variables[i].Original), nil
		}
		k = &kernel{result: result}
		m, err := dev.LoadModule(result.Module.File, result.Text)
		if err != nil {
			return "", err
		}
		t.modules = append(t.modules, m)
		if k.function, err = dev.Function(m, result.Kernel); err != nil {
			return "", err
		}
		t.kernels[key] = k
	}
	n.kernel, n.offset = k, t.rowBytes
	t.rowBytes += int64(k.result.Table.Stride)
	return "", nil
}

// source returns the syntax tree of a module.
func (t *template) source(m ir.ModuleID, sources map[ir.ModuleID]*ptx.Module) (*ptx.Module, error) {
	if s, ok := sources[m]; ok {
		return s, nil
	}
	name, text := "moves.ptx", movesPTX
	if m != movesModule {
		name, text = t.graph.Modules[m].File, t.graph.Modules[m].Source
	}
	s, err := ptx.Parse(name, text)
	sources[m] = s
	return s, err
}

// equals reports, by argument, whether it is a scalar, which is equal for all instances of a signature.
func equals(args []ir.Arg) (equal []bool) {
	for i := range args {
		equal = append(equal, args[i].Kind == ir.ArgScalar)
	}
	return equal
}

func equalArgs(args []ir.Arg) string { return fmt.Sprint(equals(args)) }

// row returns the arguments of a tenant.
func (t *template) row(tenant *Tenant) ([]byte, error) {
	row := make([]byte, t.rowBytes)
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.kernel == nil {
			continue
		}
		table := n.kernel.result.Table
		if err := table.PutRow(row[n.offset:n.offset+int64(table.Stride)], 0, lower.Params(n.launch.Args, tenant)); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// allocate gives memory to all buffers of a program.
func allocate(g *ir.Graph, b traced.Bindings) error {
	for i := range g.Buffers {
		if err := b.Allocate(ir.BufferID(i)); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) close(dev device.Device) error {
	var errs []error
	for _, m := range t.modules {
		errs = append(errs, dev.UnloadModule(m))
	}
	t.modules = nil
	return device.Join(errs...)
}
