package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// Devices that are open at the same time have no address in common, neither of their own memory nor of that of the host.
func TestDevicesHaveAddressesOfTheirOwn(t *testing.T) {
	seen := map[device.Ptr]bool{}
	for range 20 {
		d := open(t, Options{})
		defer d.Close()
		p, err := d.Alloc(1 << 20)
		require.NoError(t, err)
		h, _, err := d.AllocHost(1 << 20)
		require.NoError(t, err)
		m, _, err := d.AllocManaged(1 << 20)
		require.NoError(t, err)
		for other := range seen {
			_, err := d.Allocation(other, 1)
			assert.Error(t, err)
		}
		seen[p], seen[h], seen[m] = true, true, true
	}
}

// scatter adds 1 to the 65536 words of x in an order that has nothing of their addresses.
const scatter = `.version 7.0
.target sm_50
.address_size 64
.visible .entry scatter(.param .u64 x) {
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	mul.lo.u32 %r3, %r3, 2654435769;
	shr.u32 %r3, %r3, 8;
	and.b32 %r3, %r3, 1048575;
	mul.wide.u32 %rd3, %r3, 16;
	add.s64 %rd4, %rd0, %rd3;
	ld.global.u32 %r4, [%rd4];
	add.u32 %r4, %r4, 1;
	st.global.u32 [%rd4], %r4;
	ret;
}
`

// What a launch takes does not depend on the addresses that a device has, though it is estimated from hashes of them.
func TestTimesDoNotDependOnTheRegion(t *testing.T) {
	took := func(managed bool) time.Duration {
		d := open(t, Options{Memo: MemoOff})
		m, err := d.LoadModule("scatter.ptx", scatter)
		require.NoError(t, err)
		f, err := d.Function(m, "scatter")
		require.NoError(t, err)
		p, err := d.Alloc(16 << 20)
		if managed {
			p, _, err = d.AllocManaged(16 << 20)
		}
		require.NoError(t, err)
		s, err := d.CreateStream(0)
		require.NoError(t, err)
		params := make([]byte, 8)
		for i := range params {
			params[i] = byte(p >> (8 * i))
		}
		require.NoError(t, d.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: 256, Y: 1, Z: 1}, Block: device.Dim3{X: 256, Y: 1, Z: 1}, Params: params}))
		require.NoError(t, d.Synchronize(s))
		return d.Now() // and the device stays open
	}
	for _, managed := range []bool{false, true} {
		first := took(managed)
		for range 3 {
			assert.Equal(t, first, took(managed))
		}
	}
}

// What runs alone has the addresses that it has in a process of its own.
func TestARegionIsFreeAgainAfterClose(t *testing.T) {
	address := func() (device.Ptr, device.Ptr) {
		d := open(t, Options{})
		p, err := d.Alloc(64)
		require.NoError(t, err)
		h, _, err := d.AllocHost(64)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		return p, h
	}
	p, h := address()
	for range 3 {
		q, i := address()
		assert.Equal(t, []device.Ptr{p, h}, []device.Ptr{q, i})
	}
}
