package tenancy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// guest is a tenant of a small program: y = 2x² by copies, fills and two kernels in a diamond.
//
//	host ─► x ─┬─► square ─► a ─┬─► add ─► y ─► copy ─► z ─► host
//	           └─► square ─► b ─┘
type guest struct {
	trace   *tracer.Trace
	in, out tracer.Buffer // pinned
	tenant  *Tenant
}

const addPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 y, .param .u64 a, .param .u64 b, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<5>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd0, [y];
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	setp.ge.u32 %p, %r4, %r0;
	@%p bra done;
	mul.wide.u32 %rd3, %r4, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	add.s64 %rd6, %rd0, %rd3;
	ld.global.f32 %f0, [%rd4];
	ld.global.f32 %f1, [%rd5];
	add.f32 %f2, %f0, %f1;
	st.global.f32 [%rd6], %f2;
done:
	ret;
}
`

func newGuest(t testing.TB, dev device.Device, n int) *guest {
	tr := tracer.New(dev, fmt.Sprintf("guest%p", t), tracer.Deferred)
	square, ok := kernels.Lookup("square")
	require.True(t, ok)
	k := tr.Module(square.File, square.PTX).Kernel("square")
	add := tr.Module("add.ptx", addPTX).Kernel("add")
	g := &guest{in: tr.AllocHost("in", ir.F32, int64(n), ir.Input), out: tr.AllocHost("out", ir.F32, int64(n), ir.Output)}
	temp := func(name string) tracer.Buffer { return tr.Alloc(name, ir.F32, int64(n), ir.Temporary) }
	x, a, b, y, z := temp("x"), temp("a"), temp("b"), temp("y"), temp("z")
	shape := tracer.Linear(uint32(n+127)/128, 128)
	tr.Copy(x, g.in)
	tr.Memset(y, float32(0))
	tr.Launch(k, shape, x, a, n)
	tr.Launch(k, shape, x, b, n)
	tr.Launch(add, shape, y, a, b, n)
	tr.Copy(z, y)
	tr.Copy(g.out, z)
	var err error
	g.trace, err = tr.Finish()
	require.NoError(t, err)
	return g
}

// party opens a device with n guests.
func party(t testing.TB, o Options, sizes ...int) (*Server, []*guest) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	s := NewServer(dev, o)
	var guests []*guest
	for i, n := range sizes {
		g := newGuest(t, dev, n)
		g.tenant, err = s.Add(fmt.Sprint("tenant ", i), g.trace)
		require.NoError(t, err)
		guests = append(guests, g)
	}
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		for _, g := range guests {
			require.NoError(t, g.trace.Close())
		}
		live := dev.Live()
		require.Zero(t, live.Allocations+live.Graphs+live.Execs+live.Modules+live.Streams+live.Events, "%+v", live)
		require.NoError(t, dev.Close())
	})
	return s, guests
}

// write sets the input of a guest.
func (g *guest) write(x float32) {
	data, err := floats(g.in)
	if err == nil {
		for i := range data {
			data[i] = x + float32(i)
		}
		err = tracer.Write(g.in, data)
	}
	if err != nil {
		panic(err)
	}
}

func floats(b tracer.Buffer) ([]float32, error) { return make([]float32, b.Len()), nil }

// wants checks the output for the input that write has set.
func (g *guest) wants(t testing.TB, x float32) {
	t.Helper()
	got, _ := floats(g.out)
	require.NoError(t, tracer.Read(got, g.out))
	for i := range got {
		v := x + float32(i)
		require.Equal(t, 2*v*v, got[i], "element %d", i)
	}
}

// run dispatches until nothing is left.
func run(t testing.TB, s *Server) {
	for s.Busy() {
		next, err := s.Launch()
		require.NoError(t, err)
		require.NoError(t, s.Await(context.Background(), next))
	}
}

func TestARoundServesAllThatWait(t *testing.T) {
	sizes := []int{1000, 1000, 1000, 1000, 1000}
	s, guests := party(t, Options{}, sizes...)
	require.Empty(t, s.Reason(guests[0].tenant))
	for round := range 3 {
		var ended int
		for i, g := range guests {
			g.write(float32(i + round))
			s.Enqueue(&Request{Tenant: g.tenant, Arrived: s.Now(), Done: func(r *Request) {
				ended++
				assert.NoError(t, r.Err)
				assert.Equal(t, 5, r.Members)
			}})
		}
		run(t, s)
		require.Equal(t, 5, ended)
		for i, g := range guests {
			g.wants(t, float32(i+round))
		}
	}
	stats := s.Stats()
	assert.Equal(t, 3, stats.Rounds)
	assert.Equal(t, 15, stats.Members)
	assert.Equal(t, 1, stats.Misses)
	assert.Equal(t, 2, stats.Hits)
}

// Any subset of the tenants may take part in a round, in memory and at any time.
func TestSubsetsAndCohorts(t *testing.T) {
	s, guests := party(t, Options{MaxMembers: 4}, 257, 257, 64, 257, 257, 64, 257)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		inputs := map[int]float32{}
		for i, g := range guests {
			if rng.IntN(2) == 0 {
				inputs[i] = float32(rng.IntN(100))
				g.write(inputs[i])
				s.Enqueue(&Request{Tenant: g.tenant, Arrived: s.Now(), Done: func(r *Request) { assert.NoError(t, r.Err) }})
			}
		}
		run(t, s)
		for i, x := range inputs {
			guests[i].wants(t, x)
		}
	}
	assert.NotEqual(t, guests[0].tenant.Cohort(), guests[2].tenant.Cohort())
	assert.Equal(t, guests[0].tenant.Cohort(), guests[6].tenant.Cohort())
}

func TestDeadlinesThatCannotBeMet(t *testing.T) {
	s, guests := party(t, Options{}, 100)
	g := guests[0]
	g.write(1)
	for range 3 {
		s.Enqueue(&Request{Tenant: g.tenant, Arrived: s.Now()})
		run(t, s)
	}
	var err error
	s.Enqueue(&Request{Tenant: g.tenant, Arrived: s.Now(), Deadline: s.Now() + time.Microsecond, Done: func(r *Request) { err = r.Err }})
	run(t, s)
	var late *DeadlineError
	require.ErrorAs(t, err, &late)
	assert.Greater(t, late.Needed, late.Left)
	assert.Equal(t, 1, s.Stats().Late)
}

// TestCopiesBetweenKernels runs a program that copies from and to the host between its kernels: z = x*x to the host, then a
// copy of z from the host into x, and z = x*x again.
func TestCopiesBetweenKernels(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	s := NewServer(dev, Options{MaxMembers: 4})
	defer s.Close()
	square, _ := kernels.Lookup("square")
	var all []*Tenant
	var hosts []tracer.Buffer
	const n = 300
	for i := range 5 {
		tr := tracer.New(dev, "twice", tracer.Deferred)
		k := tr.Module(square.File, square.PTX).Kernel("square")
		host, x, z := tr.AllocHost("host", ir.F32, n, ir.Input), tr.Alloc("x", ir.F32, n, ir.Temporary), tr.Alloc("z", ir.F32, n, ir.Temporary)
		for range 2 {
			tr.Copy(x, host)
			tr.Launch(k, tracer.Linear(3, 128), x, z, n)
			tr.Copy(host, z)
		}
		trace, err := tr.Finish()
		require.NoError(t, err)
		defer trace.Close()
		one, err := s.Add(fmt.Sprint("tenant ", i), trace)
		require.NoError(t, err)
		require.Empty(t, s.Reason(one))
		all, hosts = append(all, one), append(hosts, host)
	}
	for round := range 6 { // with other members each time
		for i := range all {
			if i == round {
				continue
			}
			data := slices.Repeat([]float32{float32(i + 2)}, n)
			require.NoError(t, tracer.Write(hosts[i], data))
			s.Enqueue(&Request{Tenant: all[i], Arrived: s.Now(), Done: func(r *Request) { assert.NoError(t, r.Err) }})
		}
		run(t, s)
		for i := range all {
			if i == round {
				continue
			}
			got := make([]float32, n)
			require.NoError(t, tracer.Read(got, hosts[i]))
			want := float32(i + 2)
			require.Equal(t, slices.Repeat([]float32{want * want * want * want}, n), got, "round %d, tenant %d", round, i)
		}
	}
}

// TestCopiesRunBesideEachOther compares the copies of many members with one after another: on streams of the device, a
// call of the host lies between two copies.
func TestCopiesRunBesideEachOther(t *testing.T) {
	took := map[int]time.Duration{}
	for _, n := range []int{1, 16} {
		s, guests := party(t, Options{}, slices.Repeat([]int{64}, n)...)
		for range 3 {
			begin := s.Now()
			for _, g := range guests {
				g.write(1)
				s.Enqueue(&Request{Tenant: g.tenant, Arrived: begin})
			}
			run(t, s)
			took[n] = s.Now() - begin
		}
	}
	t.Logf("1 member: %v, 16 members: %v", took[1], took[16])
	assert.Less(t, took[16]-took[1], 15*2*2*us, "2.2 us of the host for each copy, two in a member")
}

// TestTheLastMemberTakesItsCohortAlong adds and removes tenants of ever other programs.
func TestTheLastMemberTakesItsCohortAlong(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	s := NewServer(dev, Options{})
	defer s.Close()
	live := func() [3]int { l := dev.Live(); return [3]int{l.Modules, l.Streams, l.Execs} }
	before := live()
	for n := range 3 {
		g := newGuest(t, dev, 100+n)
		g.tenant, err = s.Add("guest", g.trace)
		require.NoError(t, err)
		g.write(1)
		s.Enqueue(&Request{Tenant: g.tenant, Arrived: s.Now()})
		run(t, s)
		require.NoError(t, s.Remove(g.tenant))
		require.NoError(t, g.trace.Close())
		require.Equal(t, before, live())
	}
	require.Empty(t, s.cohorts)
	require.Zero(t, s.cached)
}
