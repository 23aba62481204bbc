package graphexec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// everyForm runs a test on both back ends, on devices with conditional nodes and without.
func everyForm(t *testing.T, test func(t *testing.T, dev device.Device, form graphexec.Backend)) {
	for _, form := range graphexec.Backends() {
		for _, hide := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, hidden %v", form, hide), func(t *testing.T) {
				simulated, err := sim.New(sim.Options{Race: sim.RaceOn})
				require.NoError(t, err)
				var dev device.Device = simulated
				if hide {
					dev = plainDevice{dev}
				}
				test(t, dev, form)
				require.NoError(t, dev.Close())
			})
		}
	}
}

// changer makes random changes of a program, and has the model of the program follow.
type changer struct {
	*rand.Rand
	*model
	m   *memoryOf
	ops []string
}

func (c *changer) list(g *ir.Graph, path string) {
	for v := range g.Ops {
		name := path + ir.OpID(v).String()
		c.ops = append(c.ops, name)
		if control := g.Ops[v].Control; control != nil {
			for i, body := range control.Bodies {
				c.list(body, name+[]string{"/", "/else/"}[i])
			}
		}
	}
}

// next returns a change, and what makes it in the model.
func (c *changer) next() (graphexec.Change, func()) {
	i := c.IntN(4)
	j := (i + 1 + c.IntN(3)) % 4
	switch k := c.IntN(8); {
	case k == 0:
		n := c.Uint32N(4)
		return graphexec.Param("n", n), func() { c.n = n }
	case k < 3:
		return graphexec.Swap(fmt.Sprint("b", i), fmt.Sprint("b", j)), func() {
			c.memory[i], c.memory[j] = c.memory[j], c.memory[i]
			c.m.buffers[i], c.m.buffers[j] = c.m.buffers[j], c.m.buffers[i]
		}
	case k < 4:
		p, err := c.m.dev.Alloc(4 * words)
		require.NoError(c.m.t, err)
		require.NoError(c.m.t, c.m.dev.Submit(c.m.s, &device.Memset{Dst: p, Width: 4, Count: words, Value: 1}))
		require.NoError(c.m.t, c.m.dev.Synchronize(c.m.s))
		return graphexec.Rebind(fmt.Sprint("b", i), p), func() {
			for at := range c.memory[i] {
				c.memory[i][at] = 0
				if at%4 == 0 {
					c.memory[i][at] = 1
				}
			}
			c.m.buffers[i] = p
		}
	}
	name := c.ops[c.IntN(len(c.ops))]
	on := c.off[name]
	return graphexec.Enable(name, on), func() { c.off[name] = !on }
}

// TestChangesInBodies makes random changes between replays of random programs.
func TestChangesInBodies(t *testing.T) {
	seeds, made, rebuilt, refused := uint64(40), 0, 0, 0
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		g := newControlled(seed+100, 2+int(seed%5), 1+int(seed%3))
		require.NoError(t, ir.Verify(g))
		everyForm(t, func(t *testing.T, dev device.Device, form graphexec.Backend) {
			plan, err := optimizer.Plan(g, optimizer.Options{Streams: form == graphexec.Streams})
			require.NoError(t, err)
			m := newMemory(t, dev, g)
			m.zero()
			exec, err := graphexec.Instantiate(dev, plan.Schedule, m, form)
			require.NoError(t, err)
			c := &changer{Rand: rand.New(rand.NewPCG(seed, 7)), model: newModel(), m: m}
			c.list(g, "")
			for range 12 {
				change, follow := c.next()
				switch err := exec.Apply(change); {
				case err == nil:
					follow()
					made++
				case strings.Contains(err.Error(), "used by no operation"):
				default:
					require.ErrorContains(t, err, "that write the scalar are off", "%v of\n%s", change, ir.Print(g))
					refused++
				}
				require.NoError(t, exec.Replay(context.Background()))
				require.NoError(t, exec.Wait(context.Background()))
				c.run(g, "")
				require.Equal(t, c.memory, m.bytes(), "seed %d, %v\n%s", seed, change, ir.Print(g))
			}
			rebuilt += exec.Stats().Rebuilds
			require.NoError(t, exec.Close())
		})
	}
	t.Logf("%d changes, %d refused, %d graphs instantiated again", made, refused, rebuilt)
	assert.Greater(t, made, 500)
	assert.Greater(t, refused, 5)
	assert.Greater(t, rebuilt, 5)
}

const nested = `graph nested {
  module m "m.ptx"
  param $n u32 = 2
  buffer @x u32[6] inout
  buffer @y u32[6] inout
  buffer @z u32[6] inout
  %0 = launch m.increment grid(1) block(1) args(@z) uses(readwrite @z[0:4])
  %1 = loop until @x[0:4] atleast 5 max(100) label("climb") {
    %0 = launch m.increment grid(1) block(1) args(@x) uses(readwrite @x[0:4])
    %1 = branch if @x[0:4] below 3 {
      %0 = launch m.add grid(1) block(1) args(@y, $n) uses(readwrite @y[0:4])
    } else {
      %0 = memset @y[4:8] u32=9 label("mark")
    }
  }
  %2 = copy @y -> @z
}
`

// TestOperationsOfBodiesAreNamed changes operations by number, kernel and label, and has errors name them.
func TestOperationsOfBodiesAreNamed(t *testing.T) {
	s := plan(t, nested, "nimble")
	everyForm(t, func(t *testing.T, dev device.Device, form graphexec.Backend) {
		m := newMemory(t, dev, s.Graph)
		x, err := graphexec.Instantiate(dev, s, m, form)
		require.NoError(t, err)
		left := func() []byte {
			m.zero()
			require.NoError(t, x.Replay(context.Background()))
			require.NoError(t, x.Wait(context.Background()))
			all := m.bytes()
			return []byte{all[0][0], all[1][0], all[1][4]}
		}
		assert.Equal(t, []byte{5, 4, 9}, left())
		for _, test := range []struct {
			change graphexec.Change
			want   []byte
		}{
			{graphexec.Enable("mark", false), []byte{5, 4, 0}},
			{graphexec.Param("n", 3), []byte{5, 6, 0}},
			{graphexec.Enable("%1/%1/else/%0", true), []byte{5, 6, 9}},
			{graphexec.Enable("add", false), []byte{5, 0, 9}},
			{graphexec.Enable("%1/%1", false), []byte{5, 0, 0}},
			{graphexec.Enable("%1/%1/%0", true), []byte{5, 0, 0}},
			{graphexec.Enable("%1/%1", true), []byte{5, 6, 9}},
			{graphexec.Enable("climb", false), []byte{0, 0, 0}},
			{graphexec.Enable("%1/%0", false), []byte{0, 0, 0}},
			{graphexec.Enable("%1/%0", true), []byte{0, 0, 0}},
			{graphexec.Enable("%1", true), []byte{5, 6, 9}},
		} {
			require.NoError(t, x.Apply(test.change), test.change)
			assert.Equal(t, test.want, left(), test.change)
		}
		for _, test := range []struct {
			change graphexec.Change
			want   string
		}{
			{graphexec.Enable("incremant", false), "no operation incremant in "},
			{graphexec.Enable("%1/%2", false), "no operation %1/%2 in nested"},
			{graphexec.Enable("%1/else/%0", false), "no operation %1/else/%0 in nested"},
			{graphexec.Enable("%1/%0", false), "climb: all operations of its body that write the scalar are off, so that it cannot end: leave one on, or disable the loop"},
			{graphexec.Grid("mark", ir.Dim3{X: 1, Y: 1, Z: 1}), "climb/branch/else/mark: it is no launch and has no grid"},
			{graphexec.Grid("add", ir.Dim3{X: 2, Y: 1, Z: 1}), "climb/branch/add: what it would touch with another grid is not known"},
		} {
			assert.ErrorContains(t, x.Apply(test.change), test.want)
		}
		verdicts, err := x.Preflight(graphexec.Swap("x", "y"))
		require.NoError(t, err)
		assert.Equal(t, "swap @x and @y: 6 operations in place", verdicts[0].String())
		verdicts, err = x.Preflight(graphexec.Enable("climb", false))
		require.NoError(t, err)
		if _, hidden := dev.(plainDevice); hidden {
			assert.Equal(t, "disable climb: one operation in place", verdicts[0].String())
		} else {
			assert.Equal(t, "disable climb: rebuild: climb is a conditional node, which cannot be switched off", verdicts[0].String())
		}
		require.NoError(t, x.Close())
	})
}

// TestLaunchesInBodiesKeepTheirReach has a recorded launch in a body, in a slice, with a parameter and another grid.
func TestLaunchesInBodiesKeepTheirReach(t *testing.T) {
	everyForm(t, func(t *testing.T, dev device.Device, form graphexec.Backend) {
		tr := tracer.New(dev, "reach", tracer.Deferred)
		k := tr.Module("guarded.ptx", guarded).Kernel("guarded")
		step := tr.Module("m.ptx", increment).Kernel("increment")
		f, i := tr.Alloc("f", ir.U32, 128, ir.InOut), tr.Alloc("i", ir.U32, 1, ir.InOut)
		n := tr.Param("n", ir.U32, 40)
		tr.Launch(k, tracer.Linear(2, 32), f, 128) // another than in the body, with its number
		tr.Loop(i, ir.AtLeast, 3, tracer.Limits{Iterations: 9}, func() {
			tr.Launch(k, tracer.Linear(2, 32), f.Slice(64, 112), n)
			tr.Launch(k, tracer.Linear(1, 32), f, n)
			tr.Launch(step, tracer.Linear(1, 1), i)
		})
		trace, err := tr.Finish()
		require.NoError(t, err)
		own := planned(t, trace.Graph)
		text, err := ir.Load("reach.rir", string(ir.Format(own.Graph, own)))
		require.NoError(t, err)
		for name, s := range map[string]*ir.Schedule{"traced": own, "text": text.Schedule} {
			x, err := graphexec.Instantiate(dev, s, trace, form)
			require.NoError(t, err)
			set := func(c graphexec.Change, written int) {
				require.NoError(t, x.Apply(c), name)
				require.NoError(t, tracer.Write(f, make([]uint32, 128)))
				require.NoError(t, tracer.Write(i, []uint32{0}))
				require.NoError(t, x.Replay(context.Background()))
				require.NoError(t, x.Wait(context.Background()))
				got := make([]uint32, 128)
				require.NoError(t, tracer.Read(got, f))
				for at := 64; at < 128; at++ {
					assert.Equal(t, at-64 < written, at == 64 || got[at] != 0, "%s, %v: %d", name, c, at)
				}
			}
			set(graphexec.Param("n", 44), 44)
			set(graphexec.Param("n", 48), 48)
			var left *tracer.SliceError
			require.ErrorAs(t, x.Set("n", 49), &left, name)
			assert.Equal(t, ir.Range{Buffer: 0, Lo: 256, Hi: 448}, left.Slice)
			set(graphexec.Grid("%1/%0", ir.Dim3{X: 1, Y: 1, Z: 1}), 32)
			require.NoError(t, x.Set("n", 49), "the smaller grid stays in the slice")
			set(graphexec.Param("n", 48), 32)
			assert.ErrorContains(t, x.Apply(graphexec.Grid("%1/%1", ir.Dim3{X: 2, Y: 1, Z: 1})), "loop/guarded#2 at graphexec/body_test.go", name)
			assert.ErrorContains(t, x.Apply(graphexec.Grid("%1/%1", ir.Dim3{X: 2, Y: 1, Z: 1})), "it would touch @f[0:256], which is more than the plan contains", name)
			set(graphexec.Grid("%1/%0", ir.Dim3{X: 2, Y: 1, Z: 1}), 48)
			require.NoError(t, x.Close())
		}
		require.NoError(t, trace.Close())
	})
}

// TestAFailedChangeInABodyIsUndone lets each update fail in turn.
func TestAFailedChangeInABodyIsUndone(t *testing.T) {
	s := plan(t, nested, "nimble")
	for _, form := range graphexec.Backends() {
		failures := 0
		for n := 1; ; n++ {
			simulated, err := sim.New(sim.Options{})
			require.NoError(t, err)
			fail, calls := false, 0
			dev := wrap.Faults(simulated, func(_ int, method string) device.Code {
				if fail && strings.HasPrefix(method, "Update") && !strings.HasSuffix(method, "Nodes") {
					if calls++; calls == n {
						return device.OutOfMemory
					}
				}
				return 0
			})
			m := newMemory(t, dev, s.Graph)
			x, err := graphexec.Instantiate(dev, s, m, form)
			require.NoError(t, err)
			fail = true
			err = x.Apply(graphexec.Swap("x", "z"), graphexec.Param("n", 3))
			fail = false
			if err == nil {
				require.NoError(t, device.Join(x.Close(), dev.Close()))
				break
			}
			failures++
			m.zero()
			require.NoError(t, x.Replay(context.Background()))
			require.NoError(t, x.Wait(context.Background()))
			all := m.bytes()
			assert.Equal(t, []byte{5, 4, 4}, []byte{all[0][0], all[1][0], all[2][0]}, "%v, call %d failed", form, n)
			require.NoError(t, device.Join(x.Close(), dev.Close()))
		}
		assert.Greater(t, failures, 3)
	}
}

// TestChangesOfALoneLoopWithBodies makes random changes between runs of loops of package loop, whose bodies hold loops and branches.
func TestChangesOfALoneLoopWithBodies(t *testing.T) {
	made := 0
	for seed := range uint64(8) {
		for _, lowering := range lowerings {
			c := controlled{rand.New(rand.NewPCG(seed, 61)), newControlled(seed, 0, 0)}
			g := c.g
			g.Ops = []ir.Op{c.control(2, false)}
			body := g.Ops[0].Control.Bodies[0]
			body.Ops = append([]ir.Op{c.control(1, seed%2 == 0)}, body.Ops...)
			g.Ops[0] = ir.ControlOp(ir.KindLoop, *g.Ops[0].Control)
			require.NoError(t, ir.Verify(g))
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			plan, err := optimizer.Plan(g, optimizer.Options{})
			require.NoError(t, err)
			l, err := loop.Of(plan.Schedule)
			require.NoError(t, err)
			l.Lowering = lowering
			m := newMemory(t, dev, g)
			m.zero()
			exec, err := loop.Instantiate(dev, l, m)
			require.NoError(t, err)
			change := &changer{Rand: rand.New(rand.NewPCG(seed, 67)), model: newModel(), m: m}
			change.list(body, "")
			for range 8 {
				next, follow := change.next()
				if err := exec.Apply(next); err == nil {
					made++
					follow()
				}
				_, err := exec.Run(context.Background())
				require.NoError(t, err)
				off := map[string]bool{} // by path from the loop
				for name, is := range change.off {
					off["%0/"+name] = is
				}
				as := &model{change.memory, change.n, off}
				as.run(g, "")
				require.Equal(t, change.memory, m.bytes(), "seed %d, %v, %v\n%s", seed, lowering, next, ir.Print(g))
			}
			require.NoError(t, exec.Close())
			require.NoError(t, dev.Close())
		}
	}
	assert.Greater(t, made, 100)
}
