package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// step is one call of a random stream program: a piece of work, or something
// that orders.
type step struct {
	kind   stepKind
	stream int
	event  int        // of records and waits
	work   []testWork // of runs: one; of a graph launch: its nodes
	graph  int        // which instance a graph launch launches; instances are launched again
}

type stepKind uint8

const (
	runs stepKind = iota
	graphs
	recordsEvent
	waitsEvent
	syncsStream
	syncsEvent // waits on the host, as Elapsed does when it succeeds
	syncsAll
)

// testWork touches bytes that the test knows.
type testWork struct {
	label string
	work  device.Work
	uses  []use
	deps  []int // of a node: earlier nodes
}

// use is bytes lo up to hi of a buffer.
type use struct {
	buffer, lo, hi int
	write          bool
	atomic         bool
}

func (u use) conflicts(o use) bool {
	return u.buffer == o.buffer && u.lo < o.hi && o.lo < u.hi && (u.write || o.write) && !(u.atomic && o.atomic)
}

func conflicting(a, b []use) bool {
	for _, u := range a {
		for _, o := range b {
			if u.conflicts(o) {
				return true
			}
		}
	}
	return false
}

// happensBefore is the definition: an edge for each rule, then the transitive
// closure over all steps and nodes.
type happensBefore struct {
	labels []string // "" for what only orders
	uses   [][]use
	reach  [][]bool
}

func orderOf(program []step) *happensBefore {
	h := &happensBefore{}
	edges := [][2]int{}
	add := func(label string, uses []use) int {
		h.labels, h.uses = append(h.labels, label), append(h.uses, uses)
		return len(h.labels) - 1
	}
	edge := func(from, to int) { edges = append(edges, [2]int{from, to}) }
	last := map[int]int{}   // of a stream
	marked := map[int]int{} // by an event
	var host []int          // what the host has waited for
	graphEnd := map[int]int{}
	follow := func(stream, n int) {
		if before, ok := last[stream]; ok {
			edge(before, n)
		}
		for _, w := range host {
			edge(w, n)
		}
		last[stream] = n
	}
	for _, s := range program {
		switch s.kind {
		case runs:
			follow(s.stream, add(s.work[0].label, s.work[0].uses))
		case recordsEvent:
			n := add("", nil)
			follow(s.stream, n)
			marked[s.event] = n
		case waitsEvent:
			n := add("", nil)
			follow(s.stream, n)
			if m, ok := marked[s.event]; ok {
				edge(m, n)
			}
		case syncsStream:
			if n, ok := last[s.stream]; ok {
				host = append(host, n)
			}
		case syncsEvent:
			if n, ok := marked[s.event]; ok {
				host = append(host, n)
			}
		case syncsAll:
			for _, n := range last {
				host = append(host, n)
			}
		case graphs:
			root := add("", nil)
			follow(s.stream, root)
			if n, ok := graphEnd[s.graph]; ok {
				edge(n, root)
			}
			first := len(h.labels)
			for _, w := range s.work {
				n := add(w.label, w.uses)
				edge(root, n)
				for _, dep := range w.deps {
					edge(first+dep, n)
				}
			}
			end := add("", nil)
			for n := root; n < end; n++ {
				edge(n, end)
			}
			last[s.stream], graphEnd[s.graph] = end, end
		}
	}
	n := len(h.labels)
	h.reach = make([][]bool, n)
	for i := range h.reach {
		h.reach[i] = make([]bool, n)
	}
	for _, e := range edges {
		h.reach[e[0]][e[1]] = true
	}
	for k := range n {
		for i := range n {
			if h.reach[i][k] {
				for j := range n {
					h.reach[i][j] = h.reach[i][j] || h.reach[k][j]
				}
			}
		}
	}
	return h
}

// races are the pairs of labels that conflict and that nothing orders.
func (h *happensBefore) races() map[[2]string]bool {
	found := map[[2]string]bool{}
	for i := range h.labels {
		for j := range i {
			if conflicting(h.uses[i], h.uses[j]) && !h.reach[i][j] && !h.reach[j][i] {
				found[pairOf(h.labels[i], h.labels[j])] = true
			}
		}
	}
	return found
}

func pairOf(a, b string) [2]string {
	if b < a {
		a, b = b, a
	}
	return [2]string{a, b}
}

// raceRig makes programs for a device.
type raceRig struct {
	*rig
	rng       *rand.Rand
	count     int
	marks     map[string]int // the event recorded after a piece of work
	events    int            // used in the program
	instances []step         // graph launches, each instance once
}

const pinnedBuffer = 4

// work is random work on parts of the buffers, with what it touches.
func (r *raceRig) randomWork() testWork {
	r.count++
	w := testWork{label: fmt.Sprintf("op%d", r.count)}
	words := []int{1, 7, 32, 100, rigWords}[r.rng.IntN(5)]
	part := func(write bool) (device.Ptr, int) {
		b, at := r.rng.IntN(len(r.buffers)), r.rng.IntN(rigWords-words+1)
		w.uses = append(w.uses, use{b, 4 * at, 4 * (at + words), write, false})
		return r.buffers[b] + device.Ptr(4*at), at
	}
	host := func(write bool) device.Ptr {
		at := r.rng.IntN(rigWords - words + 1)
		w.uses = append(w.uses, use{pinnedBuffer, 4 * at, 4 * (at + words), write, false})
		return r.pinned + device.Ptr(4*at)
	}
	switch r.rng.IntN(8) {
	case 0:
		p, _ := part(true)
		w.work = &device.Memset{Dst: p, Width: 4, Count: int64(words), Label: w.label}
	case 1:
		dst, _ := part(true)
		src, _ := part(false)
		w.work = &device.Copy{Dst: dst, Src: src, Bytes: int64(4 * words), Label: w.label}
	case 2:
		dst, _ := part(true)
		w.work = &device.Copy{Dst: dst, Src: host(false), Bytes: int64(4 * words), Label: w.label}
	case 3:
		src, _ := part(false)
		w.work = &device.Copy{Dst: host(true), Src: src, Bytes: int64(4 * words), Label: w.label}
	case 4:
		write := r.rng.IntN(2) == 0
		p := host(write)
		w.work = &device.HostCall{Func: func() error { return nil }, Label: w.label,
			Uses: []device.HostUse{{Ptr: p, Bytes: int64(4 * words), Read: !write, Write: write}}}
	case 5, 6:
		dst, _ := part(true)
		src, _ := part(false)
		p := binary.LittleEndian.AppendUint64(nil, uint64(dst))
		p = binary.LittleEndian.AppendUint64(p, uint64(src))
		for _, v := range []uint32{2, 1, uint32(words)} {
			p = binary.LittleEndian.AppendUint32(p, v)
		}
		l := r.over(r.affine, p)
		l.Label = w.label
		w.work = l
	default:
		var p []byte
		for i := range 3 {
			v, _ := part(i == 0)
			p = binary.LittleEndian.AppendUint64(p, uint64(v))
		}
		l := r.over(r.add, binary.LittleEndian.AppendUint32(p, uint32(words)))
		l.Label = w.label
		w.work = l
	}
	return w
}

// program is a random program without races: whatever conflicts with earlier
// work and is not ordered after it is made to wait for it.
func (r *raceRig) program() []step {
	var p []step
	for n := 4 + r.rng.IntN(14); n > 0; n-- {
		stream := r.rng.IntN(len(r.streams))
		switch r.rng.IntN(16) {
		case 0:
			p = append(p, step{kind: syncsStream, stream: stream})
		case 1:
			if r.events > 0 {
				p = append(p, step{kind: syncsEvent, event: 1 + r.rng.IntN(r.events)})
			}
		case 2:
			p = append(p, step{kind: syncsAll})
		case 3:
			p = r.appendOrdered(p, r.randomGraph(stream))
		case 4:
			if len(r.instances) > 0 {
				again := r.instances[r.rng.IntN(len(r.instances))]
				again.stream = stream
				p = r.appendOrdered(p, again)
			}
		default:
			p = r.appendOrdered(p, step{kind: runs, stream: stream, work: []testWork{r.randomWork()}})
		}
	}
	return p
}

// appendOrdered appends s, after a wait for each piece of work that it needs
// to follow and does not, and before a mark of its own.
func (r *raceRig) appendOrdered(p []step, s step) []step {
	own := map[string]bool{}
	for _, w := range s.work {
		own[w.label] = true
	}
	for {
		missing := ""
		for pair := range orderOf(append(p[:len(p):len(p)], s)).races() {
			for _, label := range pair {
				if !own[label] && label > missing {
					missing = label
				}
			}
		}
		if missing == "" {
			break
		}
		p = append(p, step{kind: waitsEvent, stream: s.stream, event: r.marks[missing]})
	}
	r.events++
	for _, w := range s.work {
		r.marks[w.label] = r.events
	}
	return append(p, s, step{kind: recordsEvent, stream: s.stream, event: r.events})
}

// randomGraph launches a new graph whose edges order its nodes.
func (r *raceRig) randomGraph(stream int) step {
	s := step{kind: graphs, stream: stream, graph: len(r.instances)}
	for n := 2 + r.rng.IntN(6); n > 0; n-- {
		w := r.randomWork()
		for i := len(s.work) - 1; i >= 0; i-- {
			if conflicting(w.uses, s.work[i].uses) && !reaches(s.work, i, w.deps) {
				w.deps = append(w.deps, i)
			}
		}
		s.work = append(s.work, w)
	}
	r.instances = append(r.instances, s)
	return s
}

// reaches reports whether one of the nodes is node i or comes after it.
func reaches(nodes []testWork, i int, from []int) bool {
	for _, n := range from {
		if n == i || reaches(nodes, i, nodes[n].deps) {
			return true
		}
	}
	return false
}

// play makes the calls and returns the pairs of labels that were reported.
func (r *raceRig) play(p []step) map[[2]string]bool {
	events := map[int]device.Event{}
	event := func(i int) device.Event {
		if events[i] == 0 {
			e, err := r.CreateEvent()
			r.ok(err)
			events[i] = e
		}
		return events[i]
	}
	instances := map[int]device.GraphExec{}
	for _, s := range p {
		stream := r.streams[s.stream]
		var err error
		switch s.kind {
		case runs:
			err = r.Submit(stream, s.work[0].work)
		case recordsEvent:
			err = r.Record(event(s.event), stream)
		case waitsEvent:
			err = r.Wait(stream, event(s.event))
		case syncsStream:
			err = r.Synchronize(stream)
		case syncsEvent:
			err = r.untilDone(event(s.event))
		case syncsAll:
			err = r.SynchronizeAll()
		case graphs:
			if instances[s.graph] == 0 {
				instances[s.graph] = r.instantiate(s.work)
			}
			err = r.LaunchGraph(instances[s.graph], stream)
		}
		r.tolerate(err)
	}
	r.tolerate(r.SynchronizeAll())
	found := map[[2]string]bool{}
	for _, f := range r.Findings() {
		require.Equal(r.t, DataRace, f.Kind, f.String())
		found[pairOf(f.Accesses[0].Work, f.Accesses[1].Work)] = true
	}
	return found
}

func (r *raceRig) instantiate(work []testWork) device.GraphExec {
	g, err := r.CreateGraph()
	r.ok(err)
	var nodes []device.Node
	for _, w := range work {
		var deps []device.Node
		for _, d := range w.deps {
			deps = append(deps, nodes[d])
		}
		n, err := r.AddNode(g, deps, w.work)
		r.ok(err)
		nodes = append(nodes, n)
	}
	x, err := r.Instantiate(g)
	r.ok(err)
	return x
}

func (r *raceRig) tolerate(err error) {
	var race *RaceError
	if !errors.As(err, &race) {
		r.ok(err)
	}
}

// untilDone is cudaEventSynchronize made of what there is: Elapsed answers when
// both records have completed.
func (r *raceRig) untilDone(e device.Event) error {
	for range 10000 {
		if _, err := r.Elapsed(e, e); err == nil || device.CodeOf(err) != device.NotReady {
			return err
		}
	}
	return errors.New("the event never completes")
}

func newRaceRig(t testing.TB, seed uint64) *raceRig {
	r := &raceRig{rig: newRig(t, Options{Race: RaceOn, Memo: Memo(seed % 2)}), rng: rand.New(rand.NewPCG(seed, 99)), marks: map[string]int{}}
	for _, b := range r.buffers {
		r.ok(r.Write(b, make([]byte, 4*rigWords)))
	}
	return r
}

// racePrograms is the number of programs of a test.
func racePrograms() uint64 {
	if testing.Short() {
		return 300
	}
	return 1000
}

func TestRaceDetectorIsSilentOnOrderedPrograms(t *testing.T) {
	for seed := range racePrograms() {
		r := newRaceRig(t, seed)
		p := r.program()
		require.Empty(t, orderOf(p).races(), "seed %d", seed)
		require.Empty(t, r.play(p), "seed %d", seed)
	}
}

func TestRaceDetectorFindsEveryMissingWait(t *testing.T) {
	planted := uint64(0)
	for seed := uint64(0); planted < racePrograms(); seed++ {
		r := newRaceRig(t, seed)
		p, races := r.plant(r.program())
		if len(races) == 0 {
			continue
		}
		planted++
		found := r.play(p)
		require.NotEmpty(t, found, "seed %d: nothing found of %v", seed, races)
		for pair := range found {
			require.True(t, races[pair], "seed %d: %v is ordered or has no conflict", seed, pair)
		}
		for pair := range races {
			require.True(t, touches(found, pair), "seed %d: %v is not reported, nor a race of either", seed, pair)
		}
	}
}

// touches reports whether either side of a pair is among what was found: of
// several ordered accesses to a byte one report is enough.
func touches(found map[[2]string]bool, pair [2]string) bool {
	for f := range found {
		if f[0] == pair[0] || f[0] == pair[1] || f[1] == pair[0] || f[1] == pair[1] {
			return true
		}
	}
	return false
}

// plant takes one wait or one edge out of a program so that a race arises,
// and returns the races; none when the program needs no wait.
func (r *raceRig) plant(p []step) ([]step, map[[2]string]bool) {
	for _, i := range r.rng.Perm(len(p)) {
		s := p[i]
		switch s.kind {
		case waitsEvent, syncsAll, syncsEvent, syncsStream:
			less := append(append([]step(nil), p[:i]...), p[i+1:]...)
			if races := orderOf(less).races(); len(races) > 0 {
				return less, races
			}
		case graphs:
			for _, n := range r.rng.Perm(len(s.work)) {
				for k := range s.work[n].deps {
					nodes := append([]testWork(nil), s.work...)
					deps := nodes[n].deps
					nodes[n].deps = append(append([]int(nil), deps[:k]...), deps[k+1:]...)
					less := append([]step(nil), p...)
					for j := range less {
						if less[j].kind == graphs && less[j].graph == s.graph {
							less[j].work = nodes
						}
					}
					if races := orderOf(less).races(); len(races) > 0 {
						return less, races
					}
				}
			}
		}
	}
	return p, nil
}
