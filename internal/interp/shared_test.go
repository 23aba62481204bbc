package interp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func sharedMemory(t *testing.T, n int64) (m *Memory, addr uint64, pages []byte) {
	m = NewMemory(1 << 30)
	addr, err := m.Alloc(n, "x")
	require.NoError(t, err)
	b, err := m.Bytes(addr, n)
	require.NoError(t, err)
	for i := range b {
		b[i] = byte(i * i >> 4)
	}
	pages = make([]byte, n)
	require.NoError(t, m.Share(addr, pages))
	return m, addr, pages
}

func TestSharedMemoryKeepsItsAddressAndBytes(t *testing.T) {
	for _, n := range []int64{1, 5, hostAlign, hostAlign + 1, mapFrom, mapFrom + 3} {
		m, addr, pages := sharedMemory(t, n)
		for i := range pages {
			require.Equal(t, byte(i*i>>4), pages[i], "byte %d of %d", i, n)
		}
		pages[n-1] = 77 // as another process does
		b, err := m.Bytes(addr, n)
		require.NoError(t, err)
		require.EqualValues(t, 77, b[n-1])
		require.True(t, m.Shared(addr))
		require.False(t, m.Owns(addr))
		require.EqualValues(t, n, m.Used())
		require.NoError(t, m.Free(addr))
		require.Zero(t, m.Used())
	}
}

func TestShareRefuses(t *testing.T) {
	m, addr, pages := sharedMemory(t, 64)
	other, err := m.Alloc(64, "y")
	require.NoError(t, err)
	require.ErrorContains(t, m.Share(addr, pages), "shared already")
	require.ErrorContains(t, m.Share(other+4, pages), "4 bytes")
	require.ErrorContains(t, m.Share(other, pages[:63]), "63 bytes of pages for the 64 bytes of y")
	require.ErrorContains(t, m.Share(1, pages), "nothing to share")
}

// Imported memory is not the GPU's, freed or closed.
func TestImportedMemoryIsNotCounted(t *testing.T) {
	bank := NewBank(64)
	m := NewSpace().Open(bank)
	addr, err := m.Import(make([]byte, 1000), "x")
	require.NoError(t, err)
	require.True(t, m.Shared(addr+999))
	require.EqualValues(t, 64, bank.Free())
	require.NoError(t, m.Free(addr))
	require.EqualValues(t, 64, bank.Free())
	_, err = m.Import(make([]byte, 1000), "x")
	require.NoError(t, err)
	m.Close()
	require.EqualValues(t, 64, bank.Free())
	require.Zero(t, m.space.shared)
}

// Blocks side by side put back what pages held when they clash, and with it what another process stored
// meanwhile.
func TestSharedMemoryIsWrittenInGridOrder(t *testing.T) {
	m, addr, _ := sharedMemory(t, 64)
	r := &run{kernel: &Kernel{}, mem: m, toRun: 8, launch: Launch{Workers: 4}}
	require.Equal(t, 1, r.workers())
	require.NoError(t, m.Free(addr))
	require.Equal(t, 4, r.workers())
}
