package interp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// chunkModel is the expected state of one unit of a reservation.
type chunkModel struct {
	of     *Physical // nil where nothing is mapped
	unit   uint64    // of it
	start  bool      // a mapping starts here
	access Access
}

// Random mappings, with sizes of 1 to 3 units and aliases, are compared with a table of
// units: the memory that a kernel can load and store, the bytes that the host reads across
// boundaries, and the free memory.
func TestRunsFollowMappings(t *testing.T) {
	const units = 12
	rnd := rand.New(rand.NewPCG(17, 2))
	s := NewSpace()
	bank := NewBank(40 * Granularity)
	m, other := s.Open(bank), s.Open(NewBank(Granularity))
	base, err := s.ReserveRange(units*Granularity, 0)
	require.NoError(t, err)
	var model [units]chunkModel
	content := map[*Physical][]byte{} // by unit
	at := func(i int) uint64 { return base + uint64(i)*Granularity }
	for step := range 2000 {
		i := rnd.IntN(units)
		switch rnd.IntN(4) {
		case 0, 1:
			p := anyPhysical(t, rnd, s, bank, content)
			n := int(p.size / Granularity)
			fits := i+n <= units
			for k := i; fits && k < i+n; k++ {
				fits = model[k].of == nil
			}
			require.Equal(t, fits, s.Map(at(i), p) == nil, "step %d", step)
			for k := 0; fits && k < n; k++ {
				model[i+k] = chunkModel{of: p, unit: uint64(k), start: k == 0}
			}
			if p.Release(); p.Gone() {
				delete(content, p)
			}
		case 2:
			n := 1 + rnd.IntN(4)
			whole := i+n <= units && model[i].start && (i+n == units || model[i+n].start || model[i+n].of == nil)
			for k := i; whole && k < i+n; k++ {
				whole = model[k].of != nil
			}
			require.Equal(t, whole, s.Unmap(at(i), int64(n)*Granularity) == nil, "step %d", step)
			for k := i; whole && k < i+n; k++ {
				p := model[k].of
				if model[k] = (chunkModel{}); p.Gone() {
					delete(content, p)
				}
			}
		default:
			if model[i].of == nil {
				continue
			}
			for !model[i].start {
				i--
			}
			a, p := Access(rnd.IntN(3)), model[i].of
			require.NoError(t, s.Allow(at(i), int64(p.size), bank, a))
			for k := range int(p.size / Granularity) {
				model[i+k].access = a
			}
		}
		checkRuns(t, rnd, m, model[:], content, at)
		require.Zero(t, len(other.runs.readable), "access is a GPU's own")
		used := int64(0)
		for p := range content {
			used += p.Bytes()
		}
		require.Equal(t, used, bank.Size()-bank.Free(), "step %d", step)
	}
}

// anyPhysical is new memory, or memory that is mapped already, which is then held again.
func anyPhysical(t *testing.T, rnd *rand.Rand, s *Space, b *Bank, content map[*Physical][]byte) *Physical {
	if rnd.IntN(2) == 0 {
		for _, r := range s.reservations {
			if len(r.mapped) > 0 {
				p := r.mapped[rnd.IntN(len(r.mapped))].of
				p.Hold()
				return p
			}
		}
	}
	n := 1 + rnd.Int64N(3)
	p, err := s.CreatePhysical(b, n*Granularity)
	require.NoError(t, err)
	content[p] = make([]byte, n)
	return p
}

func checkRuns(t *testing.T, rnd *rand.Rand, m *Memory, model []chunkModel, content map[*Physical][]byte, at func(int) uint64) {
	divided, seen, twice := false, map[*Physical]bool{}, false
	for i, c := range model {
		require.Equal(t, c.access >= ReadOnly, m.findFor(loads, at(i), 8) != nil)
		require.Equal(t, c.access == ReadWrite, m.findFor(stores, at(i)+Granularity-8, 8) != nil)
		require.Equal(t, c.access == ReadWrite, m.findFor(updates, at(i), 8) != nil)
		divided = divided || c.access == ReadOnly
		twice = twice || c.start && seen[c.of]
		if c.start {
			seen[c.of] = true
		}
		if i > 0 {
			before := model[i-1]
			require.Equal(t, min(c.access, before.access) >= ReadOnly, m.findFor(loads, at(i)-64, 128) != nil)
			require.Equal(t, min(c.access, before.access) == ReadWrite, m.findFor(stores, at(i)-64, 128) != nil)
		}
		if c.access == NoAccess {
			_, err := m.Bytes(at(i), 1)
			require.Error(t, err)
			continue
		}
		b, err := m.Bytes(at(i), Granularity)
		require.NoError(t, err)
		require.Equal(t, content[c.of][c.unit], b[Granularity-1])
		b[Granularity-1] = byte(rnd.Uint32())
		content[c.of][c.unit] = b[Granularity-1]
	}
	workers := 4
	if divided || twice {
		workers = 1 // blocks side by side are compared by their allocations
	}
	r := run{kernel: &Kernel{}, mem: m, toRun: 8, launch: Launch{Workers: 4}}
	require.Equal(t, workers, r.workers())
}

// Addresses are given out once as long as a reservation is there, also when all devices have gone,
// and all that was mapped goes back.
func TestReservationsOutliveDevices(t *testing.T) {
	s := NewSpace()
	m := s.Open(NewBank(1 << 30))
	base, err := s.ReserveRange(Granularity, 1<<30)
	require.NoError(t, err)
	require.Zero(t, base%(1<<30))
	m.Close()
	m = s.Open(NewBank(1 << 30))
	addr, err := m.Alloc(8, "block")
	require.NoError(t, err)
	require.Greater(t, addr, base+Granularity)
	require.Error(t, s.FreeRange(base, 1))
	require.NoError(t, s.FreeRange(base, Granularity))
	require.Error(t, s.FreeRange(base, Granularity))
	_, err = s.ReserveRange(1<<60, 0)
	require.ErrorIs(t, err, ErrOutOfMemory)
	_, err = s.ReserveRange(1, 1<<63)
	require.ErrorIs(t, err, ErrOutOfMemory)
}

// Addresses of reservations that were freed are reserved again, also those that an alignment left out,
// and allocations get them when no others are left.
func TestAddressesAreReservedAgain(t *testing.T) {
	const tera = 1 << 40
	s := NewSpace()
	m := s.Open(NewBank(tera))
	first, err := s.ReserveRange(tera, 0)
	require.NoError(t, err)
	require.NoError(t, s.FreeRange(first, tera))
	for i := range 200 {
		base, err := s.ReserveRange(tera, 0)
		require.NoError(t, err, "reservation %d", i)
		require.Equal(t, first, base)
		require.NoError(t, s.FreeRange(base, tera))
	}
	high, err := s.ReserveRange(Granularity, 1<<46)
	require.NoError(t, err)
	require.EqualValues(t, 1<<46, high)
	for i := range 60 {
		_, err := s.ReserveRange(tera, 0)
		require.NoError(t, err, "reservation %d below", i)
	}
	require.NoError(t, s.FreeRange(high, Granularity))

	const rest = 15 * tera
	big, err := s.ReserveRange(rest, 0)
	require.NoError(t, err)
	require.NoError(t, s.FreeRange(big, rest))
	_, err = s.ReserveRange(rest+tera/2, 0)
	require.NoError(t, err, "across the last hole")
	for err == nil {
		_, err = s.ReserveRange(tera/8, 0)
	}
	require.ErrorIs(t, err, errAddresses)
	require.NoError(t, s.FreeRange(s.reservations[3].base, tera))
	addr, err := m.Alloc(tera/4, "block")
	for ; err == nil && addr > s.reservations[3].base; addr, err = m.Alloc(tera/16, "block") {
	}
	require.NoError(t, err)
	require.Same(t, m.allocs[0], m.allocs.find(addr, 1), "allocations stay sorted")
	for len(s.reservations) > 0 { // the host has not much more
		require.NoError(t, s.FreeRange(s.reservations[0].base, int64(s.reservations[0].size)))
	}
}

// Addresses of a reservation that the host refuses are not lost.
func TestRefusedReservationsLoseNoAddresses(t *testing.T) {
	const large = 16 << 40
	type piece struct {
		of   *Space
		base uint64
	}
	var taken []piece // until the host has no such piece left, wherever it puts its own memory
	other := NewSpace()
	for {
		base, err := other.ReserveRange(large, 0)
		if err == nil {
			taken = append(taken, piece{other, base})
		} else if errors.Is(err, errAddresses) {
			other = NewSpace()
		} else {
			break
		}
	}
	s := NewSpace()
	for range 4 {
		_, err := s.ReserveRange(large, 0)
		require.ErrorIs(t, err, ErrOutOfMemory)
		require.NotErrorIs(t, err, errAddresses)
	}
	for _, p := range taken {
		require.NoError(t, p.of.FreeRange(p.base, large))
	}
	base, err := s.ReserveRange(large, 0)
	require.NoError(t, err)
	require.EqualValues(t, firstAddress, base)
	require.NoError(t, s.FreeRange(base, large))
}

// A change to a mapping recomputes the adjacent runs, and keeps all other runs.
func TestMappingsChangeTheRunsBesideThem(t *testing.T) {
	const n = 60
	s := NewSpace()
	bank := NewBank(1 << 40)
	m := s.Open(bank)
	base, err := s.ReserveRange(3*n*Granularity, 0)
	require.NoError(t, err)
	at := func(i int) uint64 { return base + uint64(i)*Granularity }
	gone := 0
	grow := func(i int, a Access) {
		p, err := s.CreatePhysical(bank, Granularity)
		require.NoError(t, err)
		p.OnGone = func() { gone++ }
		require.NoError(t, s.Map(at(i), p))
		require.NoError(t, s.Allow(at(i), Granularity, bank, a))
		p.Release()
	}
	for i := range n { // pairs, with a gap behind each
		grow(3*i, ReadWrite)
		grow(3*i+1, Access(1+i%2))
	}
	change := func(i int, how func()) {
		read, write := slices.Clone(m.runs.readable), slices.Clone(m.runs.writable)
		how()
		for _, l := range [][2]allocations{{read, m.runs.readable}, {write, m.runs.writable}} {
			for _, a := range l[0] {
				if a.end() < at(i) || a.base > at(i+1) {
					require.Same(t, a, l[1].find(a.base, a.size))
				}
			}
		}
	}
	for _, i := range []int{0, 30, 31, 3*n - 2} {
		change(i, func() { require.NoError(t, s.Allow(at(i), Granularity, bank, NoAccess)) })
		change(i, func() { require.NoError(t, s.Allow(at(i), Granularity, bank, ReadOnly)) })
		require.Zero(t, gone)
		change(i, func() { require.NoError(t, s.Unmap(at(i), Granularity)) })
		require.Equal(t, 1, gone)
		gone = 0
	}
	change(32, func() { grow(32, ReadWrite) })
	require.Same(t, m.runs.readable.find(at(32), 0), m.runs.readable.find(at(33), 0), "one run")
}
