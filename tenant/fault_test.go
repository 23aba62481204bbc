package tenant_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tenant"
	"github.com/reprise-gpu/reprise/tracer"
)

// picky doubles an integer, and fails on 13.
const pickyPTX = `.version 6.0
.target sm_50
.address_size 64
.visible .entry picky(.param .u64 x, .param .u64 y)
{
	.reg .pred %p;
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [x];
	ld.param.u64 %rd1, [y];
	ld.global.u32 %r0, [%rd0];
	setp.eq.u32 %p, %r0, 13;
	@%p trap;
	shl.b32 %r1, %r0, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// picky is a tenant that doubles numbers.
type picky struct {
	in, out tracer.Buffer // of the latest trace
	tenant  *tenant.Tenant
}

func (p *picky) program(dev device.Device) (*tracer.Trace, error) {
	t := tracer.New(dev, "picky", tracer.Deferred)
	p.in, p.out = t.Alloc("in", ir.U32, 1, ir.Input), t.Alloc("out", ir.U32, 1, ir.Output)
	t.Launch(t.Module("picky.ptx", pickyPTX).Kernel("picky"), tracer.Linear(1, 32), p.in, p.out)
	return t.Finish()
}

// double submits a request.
func (p *picky) double(x uint32) error {
	return p.tenant.Do(context.Background(), tenant.Request{
		Before: func(*tracer.Trace) error { return tracer.Write(p.in, []uint32{x}) },
		After: func(*tracer.Trace) error {
			got := []uint32{0}
			if err := tracer.Read(got, p.out); err != nil {
				return err
			}
			if got[0] != 2*x {
				return fmt.Errorf("%d gave %d", x, got[0])
			}
			return nil
		},
	})
}

// party starts a pool with tenants that double numbers.
func party(t *testing.T, n int, o tenant.Options) []*picky {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	pool, err := tenant.NewPool(dev, o)
	require.NoError(t, err)
	var all []*picky
	for i := range n {
		p := &picky{}
		p.tenant, err = pool.AddProgram(fmt.Sprint("tenant ", i), p.program)
		require.NoError(t, err)
		all = append(all, p)
	}
	t.Cleanup(func() {
		_ = pool.Close() // the fault, if there was one
		_ = dev.Close()  // the same
	})
	return all
}

// submit runs all tenants at once.
func submit(all []*picky, input func(i int) uint32) []error {
	errs := make([]error, len(all))
	var callers sync.WaitGroup
	for i, p := range all {
		callers.Go(func() { errs[i] = p.double(input(i)) })
	}
	callers.Wait()
	return errs
}

// A fault of one tenant is reported to it alone. The others get their results, in that round and later.
func TestAFaultIsReportedToItsTenant(t *testing.T) {
	opened := 0
	all := party(t, 6, tenant.Options{Reopen: func() (device.Device, error) {
		opened++
		return sim.New(sim.Options{})
	}})
	for _, err := range submit(all, func(i int) uint32 { return uint32(i) }) {
		require.NoError(t, err)
	}
	for i, err := range submit(all, func(i int) uint32 { return uint32(11 + i) }) {
		if i == 2 {
			var fault *tenant.FaultError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, "tenant 2", fault.Tenant)
			assert.Contains(t, err.Error(), "tenant 2: ")
		} else {
			assert.NoError(t, err, "tenant %d", i)
		}
	}
	assert.Positive(t, opened)
	for i, err := range submit(all, func(i int) uint32 { return uint32(100 + i) }) {
		if i == 2 {
			var fault *tenant.FaultError
			require.ErrorAs(t, err, &fault, "the tenant stays removed")
		} else {
			assert.NoError(t, err, "tenant %d", i)
		}
	}
}

func TestWithoutAnotherDeviceAllFail(t *testing.T) {
	all := party(t, 3, tenant.Options{})
	for _, err := range submit(all, func(int) uint32 { return 13 }) {
		require.Error(t, err)
	}
	require.Error(t, all[0].double(1))

	all = party(t, 3, tenant.Options{Reopen: func() (device.Device, error) { return nil, fmt.Errorf("none is left") }})
	for _, err := range submit(all, func(int) uint32 { return 13 }) {
		require.ErrorContains(t, err, "none is left")
	}
}
