package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/interp"
)

// FindingKind is the kind of a problem found.
type FindingKind uint8

const (
	// DataRace: two unordered operations access the same bytes, and at least one writes.
	DataRace FindingKind = iota
	// SharedRace: two threads of a block access the same bytes of shared memory without a barrier between, and at
	// least one writes.
	SharedRace
	// UninitialisedRead: memory is read that was never written since its allocation. On a GPU its content is
	// undefined.
	UninitialisedRead
	// UndefinedShuffle: a lane reads the value of a lane that does not execute the shuffle. It is a warning, because
	// the result may not be used.
	UndefinedShuffle
	// UndeclaredAccess: a block accesses bytes of a buffer of which the launch declares others.
	UndeclaredAccess
)

var findingNames = [...]string{DataRace: "race", SharedRace: "shared-memory race", UninitialisedRead: "uninitialised read",
	UndefinedShuffle: "undefined shuffle", UndeclaredAccess: "undeclared access"}

func (k FindingKind) String() string {
	if int(k) >= len(findingNames) {
		return fmt.Sprintf("finding(%d)", int(k))
	}
	return findingNames[k]
}

// Finding is a problem of a program that the simulated device detects and a GPU does not report.
type Finding struct {
	Kind FindingKind
	// Warning marks findings that are most likely harmless: a vector load of partly written elements, and a read by
	// the host of bytes that no work wrote.
	Warning bool
	// Subject names the bytes: "bytes 0-4095 of the 4096-byte allocation at 0x200000000".
	Subject string
	// Accesses holds the two conflicting accesses, or the one read.
	Accesses []Access
	// Advice states what to do about the finding.
	Advice string
}

// Access is one access of a finding.
type Access struct {
	Does   string   // "writes", "reads", "updates (atomic add.f32)"
	Work   string   // "%3 square at vec.go:41", "copy"
	Kernel string   // "" if it is not a launch
	Where  string   // "stream 2", "node 3 of graph instance 1 in stream 2"
	Thread string   // "block (0,0,0), thread (1,0,0)" if it is a single thread
	Places []string // candidate instructions of the kernel, "vec.ptx:31 (vec.cu:12)"
}

func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Warning {
		b.WriteString(" (warning)")
	}
	fmt.Fprintf(&b, ": %s", f.Subject)
	for _, a := range f.Accesses {
		b.WriteString("\n  " + a.String())
	}
	b.WriteString("\n  " + f.Advice)
	return b.String()
}

func (a Access) String() string {
	s := a.Work
	if a.Kernel != "" && !strings.Contains(a.Work, a.Kernel) {
		s += " (kernel " + a.Kernel + ")"
	}
	s += ", " + a.Where + ", " + a.Does
	if a.Thread != "" {
		s += ", " + a.Thread
	}
	if len(a.Places) > 0 {
		s += ", " + strings.Join(a.Places, " or ")
	}
	return s
}

// report collects findings without duplicates, even if a replay repeats them.
type report struct {
	findings []Finding
	seen     map[string]bool
	told     int // number of findings that calls have returned
}

// maxFindings bounds the number of findings. More of them have the same cause.
const maxFindings = 1000

func (r *report) add(f Finding) {
	key := f.key()
	if r.seen[key] || len(r.findings) == maxFindings {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	r.findings = append(r.findings, f)
}

// key returns a key that is equal for repetitions of a finding, also with its accesses exchanged.
func (f *Finding) key() string {
	var sides []string
	for _, a := range f.Accesses {
		sides = append(sides, a.Work+"\x00"+a.Where+"\x00"+strings.Join(a.Places, ","))
	}
	slices.Sort(sides)
	return f.Kind.String() + f.Subject + strings.Join(sides, "\x00")
}

// fresh returns the findings, without warnings, that it has not returned before.
func (r *report) fresh() (list []Finding) {
	for _, f := range r.findings[r.told:] {
		if !f.Warning {
			list = append(list, f)
		}
	}
	r.told = len(r.findings)
	return list
}

func (r *report) race(m *interp.Memory, base uint64, c conflict) {
	r.add(Finding{
		Kind:     DataRace,
		Subject:  subject(m, base, c.first, c.bytes, c.runs),
		Accesses: []Access{c.earlier.access(c.first), c.later.access(c.first)},
		Advice:   "nothing makes one wait for the other: record an event after the first and wait for it before the second, or add a graph edge",
	})
}

// subject names bytes of an allocation.
func subject(m *interp.Memory, base uint64, first interp.Span, bytes uint64, runs int) string {
	s := fmt.Sprintf("byte %d", first.Lo-base)
	if first.Hi-first.Lo > 1 {
		s = fmt.Sprintf("bytes %d-%d", first.Lo-base, first.Hi-1-base)
	}
	if runs > 1 {
		s += fmt.Sprintf(" and %d further ranges, %d bytes in all,", runs-1, bytes)
	}
	return fmt.Sprintf("%s of %s at %#x", s, m.Name(base), m.Shown(base))
}

// access describes a touch. Argument first is its first range of bytes in question.
func (t *touch) access(first interp.Span) Access {
	a := t.by.access()
	switch t.way {
	case reads:
		a.Does = "reads"
	case writes:
		a.Does = "writes"
	default:
		a.Does = "updates (atomic " + t.atomic + ")"
	}
	for _, s := range t.sites {
		fits := s.Atomic == (t.way == atomics) && s.Stores == (t.way != reads)
		if fits && s.Range.Lo < first.Hi && first.Lo < s.Range.Hi {
			a.place(t.by.job.kernel.code, s.Inst)
		}
	}
	return a
}

// maxPlaces bounds the number of instructions named. For each instruction only the smallest range around its accesses
// is known, so several may be candidates.
const maxPlaces = 3

func (a *Access) place(k *interp.Kernel, inst int) {
	p := k.Place(inst).String()
	if len(a.Places) < maxPlaces && !slices.Contains(a.Places, p) {
		a.Places = append(a.Places, p)
	}
}

func (o *operation) access() Access {
	a := Access{Work: o.job.name(), Where: o.where.String()}
	if o.job.kernel != nil {
		a.Kernel = o.job.kernel.name
	}
	return a
}

// name returns the name of a job for messages.
func (j *job) name() string {
	switch {
	case j.label != "":
		return j.label
	case j.kernel != nil:
		return "launch of " + j.kernel.name
	case j.choice != nil:
		return j.choice.kind.String() + " node"
	}
	return j.kind.String()
}

func (r *report) hazard(m *interp.Memory, op *operation, h *interp.Hazard) {
	by := op.access()
	by.Does = "reads"
	by.Thread = thread(h.Block, h.Thread)
	by.place(op.job.kernel.code, h.Inst)
	f := Finding{Kind: UninitialisedRead, Accesses: []Access{by}}
	switch h.Kind {
	case interp.UninitialisedRead:
		base, _, _ := m.Base(h.Address)
		f.Subject = subject(m, base, interp.Span{Lo: h.Address, Hi: h.Address + h.Bytes}, h.Bytes, 1)
		f.Advice = "nothing has written them since they were allocated, and a GPU does not zero memory: fill them first"
		if h.Partial {
			f.Warning = true
			f.Advice = "nothing has written some of them since they were allocated: harmless if the kernel ignores those elements"
		}
	case interp.UninitialisedShared:
		f.Subject = sharedBytes(h)
		f.Advice = "no thread of the block has written them, and a GPU does not zero shared memory: fill them first"
	case interp.SharedRace:
		f.Kind, f.Subject = SharedRace, sharedBytes(h)
		other := by
		other.Thread, other.Places = thread(h.Block, h.OtherThread), nil
		other.place(op.job.kernel.code, h.Other)
		by.Does, other.Does = storeVerb(h.Stores), storeVerb(h.OtherStores)
		f.Accesses = []Access{other, by}
		f.Advice = "no barrier orders the two threads: put __syncthreads() between, or __syncwarp() within a warp"
	case interp.Undeclared:
		base, _, _ := m.Base(h.Address)
		lo, hi := op.job.declared(h)
		f.Accesses[0].Does = storeVerb(h.Stores)
		f.Kind, f.Subject = UndeclaredAccess, subject(m, base, interp.Span{Lo: h.Address, Hi: h.Address + h.Bytes}, h.Bytes, 1)
		f.Advice = fmt.Sprintf("the launch declares that this block touches only bytes %d-%d: declare all that it touches, or nothing", lo-base, hi-base-1)
	case interp.UndefinedShuffle:
		f.Kind, f.Warning = UndefinedShuffle, true
		f.Subject = fmt.Sprintf("the value of lane %d, which does not execute the shuffle", h.Lane)
		f.Advice = "it is undefined, and 0 on GPUs so far: let that lane take part and name it in the member mask, or do not use the result"
	}
	r.add(f)
}

// declared returns the addresses [lo, hi) that the block of an undeclared access may access.
func (j *job) declared(h *interp.Hazard) (lo, hi uint64) {
	d, g := &j.launch.Declared[h.Of], j.launch.Grid
	first, end := d.Of((int64(h.Block[2])*int64(g[1])+int64(h.Block[1]))*int64(g[0]) + int64(h.Block[0]))
	return d.Address + uint64(first), d.Address + uint64(max(first, end))
}

func thread(block, thread [3]uint32) string {
	return "block " + coordinates(block) + ", thread " + coordinates(thread)
}

func coordinates(v [3]uint32) string { return fmt.Sprintf("(%d,%d,%d)", v[0], v[1], v[2]) }

func sharedBytes(h *interp.Hazard) string {
	return fmt.Sprintf("bytes %d-%d of shared memory", h.Address, h.Address+h.Bytes-1)
}

func storeVerb(stores bool) string {
	if stores {
		return "writes"
	}
	return "reads"
}

func (r *report) download(m *interp.Memory, j *job, gap interp.Span) {
	base, _, _ := m.Base(j.src)
	r.add(Finding{
		Kind: UninitialisedRead, Warning: true,
		Subject:  subject(m, base, gap, gap.Hi-gap.Lo, 1),
		Accesses: []Access{{Work: "Read", Where: "the host", Does: fmt.Sprintf("reads %d bytes", j.bytes)}},
		Advice:   "nothing has written them since they were allocated",
	})
}
