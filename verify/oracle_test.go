package verify_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/verify"
)

// oracle decides by brute force what package verify computes: the transitive closure of the edges of two replays, and
// the bytes of each pair of operations. It shares no code with it.
type oracle struct {
	s      *ir.Schedule
	before [][]bool // by operation of either replay: the operations, and the end of the first replay, that precede it
}

// edge is an edge of the lowered program: from the operation before on the lane, or by a wait.
type edge struct{ from, to ir.OpID }

// edges returns the edges into each operation. Those along lanes are edges of a graph, which may be omitted.
func edges(s *ir.Schedule, form graphexec.Backend) (into [][]ir.OpID, omissible []edge) {
	into = make([][]ir.OpID, s.Graph.Len())
	last := map[ir.LaneID]ir.OpID{}
	for _, id := range s.Order {
		if u, ok := last[s.Lane[id]]; ok {
			into[id] = append(into[id], u)
			if form == graphexec.Graph {
				omissible = append(omissible, edge{u, id})
			}
		}
		for _, u := range s.Waits[id] {
			into[id] = append(into[id], u)
			omissible = append(omissible, edge{u, id})
		}
		last[s.Lane[id]] = id
	}
	return into, omissible
}

// newOracle returns the oracle of a schedule without an edge. A replay of a graph follows the whole one before it. Over
// streams, lanes keep their order, and the first lane joins the others at the end.
func newOracle(s *ir.Schedule, form graphexec.Backend, without edge) *oracle {
	n := s.Graph.Len()
	o := &oracle{s, make([][]bool, 2*n+1)} // the last is the end of the first replay
	into, _ := edges(s, form)
	waited, last := make([]bool, n), map[ir.LaneID]ir.OpID{}
	for v := range into {
		for _, u := range s.Waits[v] {
			waited[u] = true
		}
	}
	for _, id := range s.Order {
		last[s.Lane[id]] = id
	}
	add := func(v int, preds ...int) {
		o.before[v] = make([]bool, 2*n+1)
		for _, u := range preds {
			o.before[v][u] = true
			for w, yes := range o.before[u] {
				o.before[v][w] = o.before[v][w] || yes
			}
		}
	}
	first := map[ir.LaneID]bool{}
	for replay := range 2 {
		clear(first)
		for _, id := range s.Order {
			var preds []int
			for _, u := range into[id] {
				if (edge{u, id}) != without {
					preds = append(preds, replay*n+int(u))
				}
			}
			if lane := s.Lane[id]; replay == 1 && (form == graphexec.Graph || !first[lane]) {
				if form == graphexec.Graph || lane == 0 || len(s.Waits[id]) == 0 {
					preds = append(preds, 2*n)
				}
				preds = append(preds, int(last[lane]))
				first[lane] = true
			}
			add(replay*n+int(id), preds...)
		}
		if replay == 0 {
			var ends []int
			for v := range n {
				if form == graphexec.Graph || last[s.Lane[v]] == ir.OpID(v) && (s.Lane[v] == 0 || !waited[v]) {
					ends = append(ends, v)
				}
			}
			add(2*n, ends...)
		}
	}
	return o
}

// races returns the pairs that conflict and are not ordered. The second of a pair may be of the next replay; its number
// is then behind those of the first.
func (o *oracle) races() (all [][2]ir.OpID) {
	n := o.s.Graph.Len()
	for v := range 2 * n {
		for u := range min(v, n) {
			if conflicting(o.s.Graph, ir.OpID(u), ir.OpID(v%n)) && !o.before[v][u] {
				all = append(all, [2]ir.OpID{ir.OpID(u), ir.OpID(v)})
			}
		}
	}
	return all
}

// conflicting compares each run of bytes of one operation with each run of the other.
func conflicting(g *ir.Graph, u, v ir.OpID) bool {
	for _, a := range runsOf(g, u) {
		for _, b := range runsOf(g, v) {
			if a.Buffer == b.Buffer && a.Lo < b.Hi && b.Lo < a.Hi && (a.Mode.Writes() || b.Mode.Writes()) {
				return true
			}
		}
	}
	return false
}

// runsOf returns the runs of bytes that an operation accesses, as accesses without strides.
func runsOf(g *ir.Graph, v ir.OpID) (runs []ir.Access) {
	var scratch [2]ir.Access
	for _, a := range g.Ops[v].Accesses(&scratch) {
		if a.Empty() {
			continue
		}
		g.Box(a).Runs(func(lo, hi int64) bool {
			runs = append(runs, ir.Access{Range: ir.Range{Buffer: a.Buffer, Lo: lo, Hi: hi}, Mode: a.Mode})
			return true
		})
	}
	return runs
}

// randomSchedule returns a schedule of a random program that keeps only some of the order that its accesses need. The
// program declares no dependencies, so that package ir does not refuse the schedule.
func randomSchedule(t *testing.T, r *rand.Rand, g *ir.Graph, rare int) *ir.Schedule {
	for v := range g.Ops {
		op := &g.Ops[v]
		op.After = nil
		empty := op.Kind == ir.KindEmpty || op.Kind == ir.KindCopy && op.Copy.Dst.Empty() || op.Kind == ir.KindMemset && op.Memset.Dst.Empty()
		if op.Kind == ir.KindPrefetch || empty { // not in a graph, and not on a stream
			op.Kind, op.Prefetch, op.Copy, op.Memset, op.Label = ir.KindHost, nil, nil, nil, "nothing"
		}
	}
	s := irtest.Schedule(r, irtest.Analyze(g), 1+r.IntN(4))
	none, err := g.WithDeps(ir.Analyzed, nil, nil)
	require.NoError(t, err)
	bare := *s
	bare.Graph, bare.Delays, bare.Joined = none, nil, nil
	bare.Waits = slices.Clone(s.Waits)
	for v := range bare.Waits {
		bare.Waits[v] = slices.DeleteFunc(slices.Clone(bare.Waits[v]), func(ir.OpID) bool { return rare > 0 && r.IntN(rare) == 0 })
	}
	return &bare
}

// randomProgram returns a random program, every third with strides, every third with many conflicts.
func randomProgram(r *rand.Rand, seed uint64) *ir.Graph {
	n := 4 + r.IntN(20)
	switch seed % 3 {
	case 1:
		return irtest.Strided(r, n)
	case 2:
		return irtest.Contended(r, n)
	}
	return irtest.Random(r, n)
}

func TestCheckAgreesWithBruteForce(t *testing.T) {
	right, wrong := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := randomProgram(r, seed)
		s := randomSchedule(t, r, g, 2+60*r.IntN(2))
		for _, form := range graphexec.Backends() {
			want := newOracle(s, form, edge{-1, -1}).races()
			proof, err := verify.Check(s, form)
			require.NoError(t, err)
			require.Equal(t, len(want) == 0, proof.OK(), "seed %d, %v: %v %v", seed, form, want, proof.Races)
			for _, race := range proof.Races {
				second := named(g, race.Second) + ir.OpID(race.Later*g.Len())
				found := slices.Contains(want, [2]ir.OpID{named(g, race.First), second})
				assert.True(t, found, "seed %d, %v: %s", seed, form, race.String())
			}
			if proof.OK() {
				right++
			} else {
				wrong++
			}
		}
	}
	assert.Greater(t, right, 50, "right plans")
	assert.Greater(t, wrong, 40, "wrong plans")
}

func TestNecessaryAgreesWithBruteForce(t *testing.T) {
	needed, implied, delays := 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		g := randomProgram(r, seed)
		s := randomSchedule(t, r, g, 0)
		for _, form := range graphexec.Backends() {
			waits, err := verify.Necessary(s, form)
			require.NoError(t, err)
			found := map[edge]verify.Wait{}
			for _, w := range waits {
				e := edge{named(g, w.From), named(g, w.To)}
				if _, twice := found[e]; !twice { // a join may have the same ends; it comes later in the program
					found[e] = w
				}
			}
			_, all := edges(s, form)
			for _, e := range all {
				w, ok := found[e]
				require.True(t, ok, "seed %d, %v: no wait %v in %v", seed, form, e, waits)
				want := newOracle(s, form, e)
				necessary := len(want.races()) > 0
				require.Equal(t, necessary, w.Without != nil, "seed %d, %v: %v", seed, form, e)
				switch {
				case necessary:
					needed++
				case w.Path != nil:
					implied++
					assert.True(t, want.before[e.to][e.from], "seed %d, %v: %v", seed, form, e)
				default:
					delays++
				}
			}
		}
	}
	assert.Greater(t, needed, 300, "necessary")
	assert.Greater(t, implied, 100, "implied")
	assert.Greater(t, delays, 100, "delays")
}

// named returns the operation of a name, which its line may follow.
func named(g *ir.Graph, name string) ir.OpID {
	name, _, _ = strings.Cut(name, " at ")
	names := opname.Of(g)
	for v := range g.Ops {
		if names.Of(ir.OpID(v)) == name {
			return ir.OpID(v)
		}
	}
	return -1
}
