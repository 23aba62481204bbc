package tenancy

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// spinPTX stores a number after as many steps as memory holds.
const spinPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 y, .param .u64 steps)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [y];
	ld.param.u64 %rd1, [steps];
	ld.global.u32 %r0, [%rd1];
	mov.f32 %f0, 0f3F800000;
again:
	fma.rn.f32 %f0, %f0, %f0, %f0;
	add.s32 %r0, %r0, -1;
	setp.gt.s32 %p, %r0, 0;
	@%p bra again;
	st.global.f32 [%rd0], %f0;
	ret;
}
`

// TestASlowTenantRunsAlone makes one of eight tenants twenty times slower. Until then and afterwards, each submits again
// when its request ends.
func TestASlowTenantRunsAlone(t *testing.T) {
	const tenants, steps, slowSteps = 8, 4000, 80000
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	s := NewServer(dev, Options{})
	defer s.Close()
	var all []*Tenant
	var counts []tracer.Buffer
	for i := range tenants {
		tr := tracer.New(dev, fmt.Sprint("tenant ", i), tracer.Deferred)
		y, count := tr.Alloc("y", ir.F32, 1, ir.Output), tr.Alloc("steps", ir.I32, 1, ir.Constant)
		tr.Launch(tr.Module("spin.ptx", spinPTX).Kernel("spin"), tracer.Linear(4, 32), y, count)
		trace, err := tr.Finish()
		require.NoError(t, err)
		require.NoError(t, tracer.Write(count, []int32{steps}))
		tenant, err := s.Add(fmt.Sprint("tenant ", i), trace)
		require.NoError(t, err)
		all, counts = append(all, tenant), append(counts, count)
	}
	var latencies []time.Duration // of all tenants but the last, in the order of their ends
	stop := false
	var submit func(*Tenant)
	submit = func(of *Tenant) {
		s.Enqueue(&Request{Tenant: of, Arrived: s.Now(), Done: func(r *Request) {
			assert.NoError(t, r.Err)
			if of != all[tenants-1] {
				latencies = append(latencies, r.Ended-r.Arrived)
			}
			if !stop {
				submit(of)
			}
		}})
	}
	// serve runs until the tenants other than the last have ended n requests each, on average. It returns their rate.
	serve := func(n int) float64 {
		begin, goal := s.Now(), len(latencies)+n*(tenants-1)
		for len(latencies) < goal {
			next, err := s.Launch()
			require.NoError(t, err)
			require.NoError(t, s.Await(context.Background(), next))
		}
		return float64(n*(tenants-1)) / (s.Now() - begin).Seconds()
	}
	for _, of := range all {
		submit(of)
	}
	serve(10)
	before := serve(20)
	usual := median(latencies[len(latencies)-20*(tenants-1):])

	require.NoError(t, tracer.Write(counts[tenants-1], []int32{slowSteps}))
	planted := len(latencies)
	serve(15)
	assert.Equal(t, 1, s.Stats().Stragglers)
	assert.True(t, all[tenants-1].Alone())
	rounds := 0 // with a slow median
	for i := planted; i+tenants-1 <= len(latencies); i += tenants - 1 {
		if median(latencies[i:i+tenants-1]) > usual*5/4 {
			rounds++
		}
	}
	after := serve(20)
	t.Logf("median %v, slow in %d rounds; %.0f requests per second of the others before and %.0f after", usual, rounds, before, after)
	assert.LessOrEqual(t, rounds, slowRounds+4, "three slow rounds and the search among eight")
	assert.GreaterOrEqual(t, after, before*(1-1.0/tenants))
	stop = true
	run(t, s)
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
