package graphexec_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// forgetful is a device that forgets one wait of a command list, or one edge of
// a graph: that of number drop, none when it is negative. It notes what is left
// as a relation between labels of work: of nodes, and of commands as they are
// submitted.
type forgetful struct {
	device.Device
	drop, seen int
	labels     []string
	before     [][]int // by work: what must end before it

	lists  map[device.CommandList][]device.Command
	last   map[device.Stream]int
	marked map[device.Event]int
}

func newForgetful(dev device.Device, drop int) *forgetful {
	return &forgetful{
		Device: dev, drop: drop,
		lists: map[device.CommandList][]device.Command{}, last: map[device.Stream]int{}, marked: map[device.Event]int{},
	}
}

func (d *forgetful) add(label string, before ...int) int {
	d.labels, d.before = append(d.labels, label), append(d.before, before)
	return len(d.labels) - 1
}

// keep counts waits and edges.
func (d *forgetful) keep() bool {
	d.seen++
	return d.seen-1 != d.drop
}

func (d *forgetful) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	kept := slices.DeleteFunc(slices.Clone(deps), func(device.Node) bool { return !d.keep() })
	var before []int
	for _, n := range kept {
		before = append(before, int(n)-1)
	}
	d.add(labelOf(w), before...)
	return d.Device.AddNode(g, kept, w)
}

func (d *forgetful) CompileCommands(all []device.Command) (device.CommandList, error) {
	kept := slices.Clone(all) // of the same length: a submission says where in it to begin
	for i := range kept {
		if kept[i].Kind == device.Await && !d.keep() {
			kept[i] = device.Command{Kind: device.Run, Stream: kept[i].Stream, Work: device.Nothing{}}
		}
	}
	list, err := d.Device.CompileCommands(kept)
	d.lists[list] = kept
	return list, err
}

func (d *forgetful) SubmitCommands(list device.CommandList, from, n int) error {
	for i := range n {
		c := d.lists[list][(from+i)%len(d.lists[list])]
		var before []int
		if n, ok := d.last[c.Stream]; ok {
			before = append(before, n)
		}
		if n, ok := d.marked[c.Event]; ok && c.Kind == device.Await {
			before = append(before, n)
		}
		n := d.add(labelOf(c.Work), before...)
		if d.last[c.Stream] = n; c.Kind == device.Record {
			d.marked[c.Event] = n
		}
	}
	return d.Device.SubmitCommands(list, from, n)
}

func labelOf(w device.Work) string {
	switch w := w.(type) {
	case *device.Launch:
		return w.Label
	case *device.Copy:
		return w.Label
	case *device.Memset:
		return w.Label
	case *device.HostCall:
		return w.Label
	}
	return ""
}

// races are the pairs of labels whose operations conflict, and that nothing
// orders that the device has not forgotten: the transitive closure tells.
func (d *forgetful) races(g *ir.Graph) map[string]bool {
	reach := make([][]bool, len(d.labels))
	for i := range reach {
		reach[i] = make([]bool, len(d.labels))
		for _, b := range d.before[i] { // all earlier: their rows are complete
			reach[i][b] = true
			for k := range b {
				reach[i][k] = reach[i][k] || reach[b][k]
			}
		}
	}
	found := map[string]bool{}
	for i, a := range d.labels {
		for j, b := range d.labels[:i] {
			if !reach[i][j] && conflicting(accessesOf(g, a), accessesOf(g, b)) {
				found[pair(a, b)] = true
			}
		}
	}
	return found
}

func pair(a, b string) string { return min(a, b) + " | " + max(a, b) }

// accessesOf is what an operation touches: labels begin with its name.
func accessesOf(g *ir.Graph, label string) []ir.Access {
	name, _, _ := strings.Cut(label, " at ")
	names := opname.Of(g)
	for v := range g.Ops {
		if names.Of(ir.OpID(v)) == name {
			return g.Ops[v].Accesses(new([2]ir.Access))
		}
	}
	return nil // what only orders
}

func conflicting(a, b []ir.Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Buffer == y.Buffer && x.Lo < y.Hi && y.Lo < x.Hi && (x.Mode.Writes() || y.Mode.Writes()) {
				return true
			}
		}
	}
	return false
}

// replayForgetting traces a random program, and replays it twice without the wait or
// edge of that number. It returns the races there are and those reported. The second
// replay follows the first on the device, without the host in between.
func replayForgetting(t *testing.T, seed uint64, form graphexec.Backend, drop int) (races, found map[string]bool) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	x := program{seed: seed, ops: 12, buffers: 4}.start(t, dev, tracer.Deferred)
	x.calls()
	trace, err := x.tr.Finish()
	require.NoError(t, err)
	d := newForgetful(dev, drop)
	exec := instantiate(t, d, trace, form)
	for range 2 {
		require.NoError(t, exec.Replay(context.Background()))
	}
	err = exec.Wait(context.Background())
	if race := (*sim.RaceError)(nil); !errors.As(err, &race) {
		require.NoError(t, err)
	}
	found = map[string]bool{}
	for _, f := range dev.Findings() {
		require.Equal(t, sim.DataRace, f.Kind, "seed %d: %v", seed, f)
		found[pair(f.Accesses[0].Work, f.Accesses[1].Work)] = true
	}
	return d.races(trace.Graph), found
}

// perBackend is how many programs are run on each back end.
func perBackend() int {
	if testing.Short() {
		return 100
	}
	return 250
}

func TestNoRaceIsReportedInReplaysOfPlans(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		for seed := range uint64(perBackend()) {
			races, found := replayForgetting(t, seed, form, -1)
			require.Empty(t, races, "seed %d", seed)
			require.Empty(t, found, "seed %d", seed)
		}
	})
}

func TestEveryForgottenWaitIsARace(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		planted := 0
		for seed := uint64(0); planted < perBackend(); seed++ {
			drop := rand.New(rand.NewPCG(seed, 3)).IntN(12)
			races, found := replayForgetting(t, seed, form, drop)
			for p := range found {
				require.True(t, races[p], "seed %d: %s is ordered or has no conflict", seed, p)
			}
			if len(races) == 0 { // no such wait, or one that no operation of the program needs
				continue
			}
			planted++
			require.NotEmpty(t, found, "seed %d: nothing found of %v", seed, races)
			for p := range races {
				a, b, _ := strings.Cut(p, " | ")
				told := func(f string) bool { return strings.Contains(f, a) || strings.Contains(f, b) }
				require.True(t, slices.ContainsFunc(sorted(found), told), "seed %d: %s is not reported, nor a race of either", seed, p)
			}
		}
	})
}

func sorted(set map[string]bool) []string {
	var list []string
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// TestWorkOnTheStreamDoesNotMeetReplays enqueues other work on a replay's stream before and after it, from the first call
// of Stream on.
func TestWorkOnTheStreamDoesNotMeetReplays(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		for seed := range uint64(20) {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			x := program{seed: seed, ops: 12, buffers: 4}.start(t, dev, tracer.Deferred)
			x.calls()
			trace, err := x.tr.Finish()
			require.NoError(t, err)
			exec := instantiate(t, dev, trace, form)
			ctx := context.Background()
			clear := func() {
				for i, b := range trace.Graph.Buffers {
					w := &device.Memset{Dst: trace.Pointer(ir.BufferID(i)), Width: 1, Count: b.Size()}
					require.NoError(t, dev.Submit(exec.Stream(), w))
				}
			}
			require.NoError(t, exec.Replay(ctx))
			for range 3 {
				clear()
				require.NoError(t, exec.Replay(ctx))
			}
			clear()
			require.NoError(t, exec.Wait(ctx), "seed %d", seed)
			clear()
			require.NoError(t, exec.Replay(ctx))
			require.NoError(t, exec.Wait(ctx), "seed %d", seed)
			require.NoError(t, exec.Close())
			require.NoError(t, dev.Close())
		}
	})
}
