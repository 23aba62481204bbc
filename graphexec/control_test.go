package graphexec_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// increment has kernels that add one and n to a word.
const increment = `
.version 6.0
.target sm_52
.address_size 64
.visible .entry increment(.param .u64 p)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd1, %rd1;
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry add(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r2, [n];
	cvta.to.global.u64 %rd1, %rd1;
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, %r2;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// controlled makes random programs of memsets, copies and increments with loops and branches, and runs them on the host.
type controlled struct {
	*rand.Rand
	g *ir.Graph
}

const words = 6 // of a buffer

func newControlled(seed uint64, ops, depth int) *ir.Graph {
	c := controlled{rand.New(rand.NewPCG(seed, 41)), &ir.Graph{Name: "controlled", Modules: []ir.Module{{Name: "m", File: "m.ptx", Source: increment}}, Params: []ir.Param{{Name: "n", Value: ir.Scalar{Type: ir.U32, Bits: 2}}}}}
	for i, t := range []ir.Type{ir.U32, ir.I32, ir.U32, ir.F32} {
		c.g.Buffers = append(c.g.Buffers, ir.Buffer{Name: fmt.Sprint("b", i), Elem: t, Len: words, Role: ir.InOut})
	}
	c.g.Ops = c.ops(ops, depth)
	return c.g
}

func (c *controlled) ops(n, depth int) (ops []ir.Op) {
	for range n {
		ops = append(ops, c.op(depth))
	}
	return ops
}

func (c *controlled) span(b ir.BufferID, n int64) ir.Range {
	lo := c.Int64N(words - n + 1)
	return ir.Range{Buffer: b, Lo: 4 * lo, Hi: 4 * (lo + n)}
}

func (c *controlled) op(depth int) ir.Op {
	b, n := c.IntN(4), 1+c.Int64N(3)
	switch k := c.IntN(8); {
	case k < 3 && depth > 0:
		return c.control(depth, k == 0)
	case k < 4:
		src, dst := c.span(ir.BufferID(b), n), c.span(ir.BufferID((b+1+c.IntN(3))%4), n)
		return ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Src: src, Dst: dst}}
	case k < 6:
		return ir.Op{Kind: ir.KindMemset, Cost: -1, Memset: &ir.Memset{Dst: c.span(ir.BufferID(b), n), Value: ir.Scalar{Type: ir.U32, Bits: c.Uint64N(6)}}}
	}
	return c.increment(c.span(ir.BufferID(b), 1))
}

func (c *controlled) increment(r ir.Range) ir.Op {
	one := ir.Dim3{X: 1, Y: 1, Z: 1}
	l := &ir.Launch{Entry: "increment", Grid: one, Block: one, Args: []ir.Arg{{Kind: ir.ArgBuffer, Buffer: r.Buffer, Offset: r.Lo}}}
	if c.IntN(2) == 0 {
		l.Entry, l.Args = "add", append(l.Args, ir.Arg{Kind: ir.ArgParam})
	}
	return ir.Op{Kind: ir.KindLaunch, Cost: -1, Uses: []ir.Access{{Range: r, Mode: ir.ReadWrite}}, Launch: l}
}

func (c *controlled) control(depth int, branch bool) ir.Op {
	r := c.span(ir.BufferID(c.IntN(4)), 1)
	control := ir.Control{Condition: ir.Condition{
		Scalar: r, Is: []ir.Comparison{ir.Below, ir.AtMost, ir.Equal, ir.NotEqual, ir.AtLeast, ir.Above}[c.IntN(6)], Value: float64(c.IntN(7)) - float64(c.IntN(2))/2,
	}}
	if branch {
		for range 1 + c.IntN(2) {
			control.Bodies = append(control.Bodies, c.body(c.IntN(3), depth-1))
		}
		return ir.ControlOp(ir.KindBranch, control)
	}
	control.Limit, control.Every = 1+c.Int64N(7), 1+c.Int64N(4)
	body := c.body(c.IntN(3), depth-1)
	body.Ops = append(body.Ops, c.increment(r))
	control.Bodies = []*ir.Graph{body}
	return ir.ControlOp(ir.KindLoop, control)
}

func (c *controlled) body(n, depth int) *ir.Graph {
	return &ir.Graph{Name: c.g.Name, Modules: c.g.Modules, Params: c.g.Params, Buffers: c.g.Buffers, Ops: c.ops(n, depth)}
}

// model interprets programs on the host, in program order.
type model struct {
	memory [][]byte // by buffer
	n      uint32   // the parameter
	off    map[string]bool
}

func newModel() *model {
	m := &model{n: 2, off: map[string]bool{}}
	for range 4 {
		m.memory = append(m.memory, make([]byte, 4*words))
	}
	return m
}

// run runs operations whose names begin with a path.
func (m *model) run(g *ir.Graph, path string) {
	for v := range g.Ops {
		name := path + ir.OpID(v).String()
		if !m.off[name] {
			m.op(g, &g.Ops[v], name)
		}
	}
}

func (m *model) op(g *ir.Graph, op *ir.Op, name string) {
	switch op.Kind {
	case ir.KindCopy:
		copy(m.memory[op.Copy.Dst.Buffer][op.Copy.Dst.Lo:op.Copy.Dst.Hi], m.memory[op.Copy.Src.Buffer][op.Copy.Src.Lo:op.Copy.Src.Hi])
	case ir.KindMemset:
		for at := op.Memset.Dst.Lo; at < op.Memset.Dst.Hi; at += 4 {
			binary.LittleEndian.PutUint32(m.memory[op.Memset.Dst.Buffer][at:], uint32(op.Memset.Value.Bits))
		}
	case ir.KindLaunch:
		word, by := m.memory[op.Uses[0].Buffer][op.Uses[0].Lo:], uint32(1)
		if op.Launch.Entry == "add" {
			by = m.n
		}
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)+by)
	case ir.KindBranch:
		body, path := 1, name+"/else/"
		if m.holds(g, op.Control) {
			body, path = 0, name+"/"
		}
		if body < len(op.Control.Bodies) {
			m.run(op.Control.Bodies[body], path)
		}
	case ir.KindLoop:
		c := op.Control
		for i := int64(1); i <= c.Limit; i++ {
			m.run(c.Bodies[0], name+"/")
			if i%c.Every == 0 && m.holds(g, c) {
				break
			}
		}
	}
}

// holds evaluates a condition; these programs make no NaN.
func (m *model) holds(g *ir.Graph, c *ir.Control) bool {
	word := binary.LittleEndian.Uint32(m.memory[c.Scalar.Buffer][c.Scalar.Lo:])
	x := float64(word)
	switch g.Buffers[c.Scalar.Buffer].Elem {
	case ir.I32:
		x = float64(int32(word))
	case ir.F32:
		x = float64(math.Float32frombits(word))
	}
	return holds(x, c.Is, c.Value)
}

// plainDevice hides conditional nodes.
type plainDevice struct{ device.Device }

// memoryOf is a program's memory on a device, and its bindings.
type memoryOf struct {
	*bound
	t    *testing.T
	dev  device.Device
	s    device.Stream
	pins []device.Ptr
	host [][]byte
}

func newMemory(t *testing.T, dev device.Device, g *ir.Graph) *memoryOf {
	m := &memoryOf{bound: &bound{}, t: t, dev: dev}
	module, err := dev.LoadModule("m.ptx", increment)
	require.NoError(t, err)
	m.s, err = dev.CreateStream(0)
	require.NoError(t, err)
	m.modules = []device.Module{module}
	for i := range g.Buffers {
		p, err := dev.Alloc(g.Buffers[i].Size())
		require.NoError(t, err)
		pin, bytes, err := dev.AllocHost(g.Buffers[i].Size())
		require.NoError(t, err)
		m.buffers, m.pins, m.host = append(m.buffers, p), append(m.pins, pin), append(m.host, bytes)
	}
	return m
}

func (m *memoryOf) zero() {
	for i, p := range m.buffers {
		clear(m.host[i])
		require.NoError(m.t, m.dev.Submit(m.s, &device.Copy{Dst: p, Src: m.pins[i], Bytes: int64(len(m.host[i]))}))
	}
	require.NoError(m.t, m.dev.SynchronizeAll())
}

func (m *memoryOf) bytes() (all [][]byte) {
	for i, p := range m.buffers {
		require.NoError(m.t, m.dev.Submit(m.s, &device.Copy{Dst: m.pins[i], Src: p, Bytes: int64(len(m.host[i]))}))
	}
	require.NoError(m.t, m.dev.SynchronizeAll())
	for _, b := range m.host {
		all = append(all, slices.Clone(b))
	}
	return all
}

// merging returns options for random programs: every second one has its launches merged. On one lane that pays often.
func merging(seed uint64) optimizer.Options {
	if seed%2 == 0 {
		return optimizer.Options{Verify: true}
	}
	return optimizer.Options{Strategy: "serial", Also: []string{"merge"}, Verify: true}
}

// mergedIn returns the number of merged launches in the bodies of a graph.
func mergedIn(g *ir.Graph) (n int) {
	for v := range g.Ops {
		if c := g.Ops[v].Control; c != nil {
			for _, body := range c.Bodies {
				n += len(body.Merged) + mergedIn(body)
			}
		}
	}
	return n
}

// TestLoopsAndBranchesLeaveTheBytesOfTheProgram replays random programs in every form, with conditional nodes and
// without, and compares with their interpretation on the host. The simulated device detects races.
func TestLoopsAndBranchesLeaveTheBytesOfTheProgram(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 25
	}
	nodes, merged := 0, 0
	for seed := range seeds {
		g := newControlled(seed, 1+int(seed%9), 1+int(seed%3))
		require.NoError(t, ir.Verify(g))
		want := newModel()
		const replays = 3
		for range replays {
			want.run(g, "")
		}
		for _, form := range graphexec.Backends() {
			for _, hide := range []bool{false, true} {
				simulated, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
				require.NoError(t, err)
				var dev device.Device = simulated
				if hide {
					dev = plainDevice{dev}
				}
				opts := merging(seed)
				opts.Streams = form == graphexec.Streams
				plan, err := optimizer.Plan(g, opts)
				require.NoError(t, err)
				merged += mergedIn(plan.Graph)
				m := newMemory(t, dev, g)
				m.zero()
				exec, err := graphexec.Instantiate(dev, plan.Schedule, m, form)
				require.NoError(t, err)
				require.NoError(t, exec.ReplayN(context.Background(), replays-1))
				require.NoError(t, exec.Replay(context.Background()))
				require.NoError(t, exec.Wait(context.Background()), "seed %d, %v, hidden %v\n%s", seed, form, hide, ir.Print(g))
				require.Equal(t, want.memory, m.bytes(), "seed %d, %v, hidden %v\n%s", seed, form, hide, ir.Format(plan.Graph, plan.Schedule))
				require.NoError(t, exec.Close())
				require.NoError(t, simulated.Close())
			}
		}
		for v := range g.Ops {
			if g.Ops[v].Control != nil {
				nodes++
			}
		}
	}
	assert.Greater(t, nodes, 25)
	assert.Greater(t, merged, int(seeds)/2)
}

// TestALoneLoopRunsInEveryLowering compares the iterations too.
func TestALoneLoopRunsInEveryLowering(t *testing.T) {
	for seed := range uint64(12) {
		c := controlled{rand.New(rand.NewPCG(seed, 43)), newControlled(seed, 0, 0)}
		g := c.g
		g.Ops = []ir.Op{c.control(1+int(seed%3), false)}
		require.NoError(t, ir.Verify(g))
		want := newModel()
		want.run(g, "")
		for _, lowering := range lowerings {
			dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
			require.NoError(t, err)
			plan, err := optimizer.Plan(g, merging(seed))
			require.NoError(t, err)
			l, err := loop.Of(plan.Schedule)
			require.NoError(t, err)
			l.Lowering = lowering
			m := newMemory(t, dev, g)
			m.zero()
			exec, err := loop.Instantiate(dev, l, m)
			require.NoError(t, err, "seed %d, %v\n%s", seed, lowering, ir.Print(g))
			_, err = exec.Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, want.memory, m.bytes(), "seed %d, %v\n%s", seed, lowering, ir.Print(g))
			require.NoError(t, exec.Close())
			require.NoError(t, dev.Close())
		}
	}
}

const looping = `graph looping {
  module m "m.ptx"
  buffer @x u32[6] inout
  buffer @y u32[6] inout
  buffer @z u32[6] inout
  %0 = memset @y u32=7
  %1 = loop until @x[0:4] atleast 5 max(100) {
    %0 = launch m.increment grid(1) block(1) args(@x) uses(readwrite @x[0:4])
    %1 = branch if @x[0:4] equal 2.5 {
      %0 = memset @y u32=1
    }
  }
  %2 = copy @x -> @z
}
`

// TestAnyFailedCallOfAControlledExecLeavesNothingBehind lets each call fail in turn, on a device without conditional nodes.
func TestAnyFailedCallOfAControlledExecLeavesNothingBehind(t *testing.T) {
	s := plan(t, looping, "nimble")
	for _, form := range graphexec.Backends() {
		for n := 1; ; n++ {
			plain := null.New()
			b := bind(t, plain, s.Graph)
			before, calls := plain.Live(), 0
			dev := wrap.Faults(plain, func(_ int, method string) device.Code {
				if strings.HasPrefix(method, "Free") || strings.HasPrefix(method, "Destroy") || strings.HasPrefix(method, "Unload") {
					return 0
				}
				if calls++; calls == n {
					return device.OutOfMemory
				}
				return 0
			})
			exec, err := graphexec.Instantiate(dev, s, b, form)
			made := calls
			if err == nil {
				calls = n + 1 // Close fails no call
				require.NoError(t, exec.Close())
			}
			require.Equal(t, before, plain.Live(), "%v, call %d failed", form, n)
			if made < n {
				require.NoError(t, err)
				assert.Greater(t, n, 4)
				break
			}
		}
	}
}

// TestRacesInBodiesAreDetected has uses that leave out what launches do: two of one body on two lanes, and one beside a loop.
func TestRacesInBodiesAreDetected(t *testing.T) {
	const declared = `graph racing {
  module m "m.ptx"
  buffer @x u32[6] inout
  buffer @y u32[6] inout
  buffer @z u32[6] inout
`
	for name, racing := range map[string]struct{ text, ops string }{
		"in a body": {declared + `
  %0 = loop until @x[0:4] atleast 5 max(3) {
    %0 = launch m.increment grid(1) block(1) args(@x) uses(readwrite @x[0:4])
    %1 = launch m.increment grid(1) block(1) args(@y)
    %2 = launch m.increment grid(1) block(1) args(@y)
  }
}
schedule s lanes(1) {
  %0 lane(0) body s lanes(3) {
    %0 lane(0)
    %1 lane(1)
    %2 lane(2)
  }
}
`, "loop/increment#2, loop/increment#3"},
		"beside a loop": {declared + `
  %0 = loop until @x[0:4] atleast 5 max(3) {
    %0 = launch m.increment grid(1) block(1) args(@x) uses(readwrite @x[0:4])
  }
  %1 = launch m.increment grid(1) block(1) args(@x)
}
schedule s lanes(2) {
  %0 lane(0) body s lanes(1) {
    %0 lane(0)
  }
  %1 lane(1)
}
`, "loop/increment, increment, until_word of loop"},
		"between two loops": {declared + `
  %0 = loop until @x[0:4] atleast 5 max(3) {
    %0 = launch m.increment grid(1) block(1) args(@x) uses(readwrite @x[0:4])
    %1 = branch if @x[0:4] below 9 {
      %0 = launch m.increment grid(1) block(1) args(@z)
    }
  }
  %1 = loop until @y[0:4] atleast 5 max(3) {
    %0 = launch m.increment grid(1) block(1) args(@y) uses(readwrite @y[0:4])
    %1 = launch m.increment grid(1) block(1) args(@z)
  }
}
schedule s lanes(2) {
  %0 lane(0) body s lanes(1) {
    %0 lane(0)
    %1 lane(0) body s lanes(1) {
      %0 lane(0)
    }
  }
  %1 lane(1) body s lanes(1) {
    %0 lane(0)
    %1 lane(0)
  }
}
`, "loop#1/branch/increment, loop#2/increment#2"},
		"in a branch": {declared + `
  %0 = branch if @x[0:4] below 1 {
    %0 = launch m.increment grid(1) block(1) args(@y)
    %1 = launch m.increment grid(1) block(1) args(@y)
  }
}
schedule s lanes(1) {
  %0 lane(0) body s lanes(2) {
    %0 lane(0)
    %1 lane(1)
  }
}
`, "branch/increment#1, branch/increment#2"},
	} {
		f, err := ir.Load("racing.rir", racing.text)
		require.NoError(t, err)
		for _, form := range graphexec.Backends() {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			m := newMemory(t, dev, f.Graph)
			m.zero()
			exec, err := graphexec.Instantiate(dev, f.Schedule, m, form)
			require.NoError(t, err)
			require.NoError(t, exec.Replay(context.Background()))
			err = exec.Wait(context.Background())
			require.ErrorContains(t, err, "race", "%s, %v", name, form)
			for _, op := range strings.Split(racing.ops, ", ") {
				assert.ErrorContains(t, err, op, "%s, %v", name, form)
			}
			_ = device.Join(exec.Close(), dev.Close())
		}
	}
}
