//go:build cuda && cgo

package simabi_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/client"
	"github.com/reprise-gpu/reprise/cuda/simabi/internal/fatbin"
)

// FuzzModuleImage loads arbitrary bytes. Bytes that are not a module must be refused with one of the documented codes.
func FuzzModuleImage(f *testing.F) {
	f.Add([]byte(saxpy))
	f.Add([]byte(saxpy[:200]))
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add([]byte(".version 9.9\n.target sm_52\n"))
	for _, name := range []string{"plain", "packed"} {
		image, err := os.ReadFile("internal/fatbin/testdata/" + name + ".fatbin")
		require.NoError(f, err)
		f.Add(image)
	}
	open(f, saxpy)
	f.Fuzz(func(t *testing.T, image []byte) {
		// The driver cannot detect that a fatbin in memory is shorter than its header states, so the image is padded.
		image = append(slices.Clip(image), make([]byte, 64)...)
		if size, err := fatbin.Size(image); err == nil && size > len(image) {
			t.Skip("cut short")
		}
		onThread(t, func() {
			m, answer := client.Load(image, nil, nil)
			require.Contains(t, []int{success, 2, 200, 209, 218, 222}, answer)
			if answer == success {
				require.Equal(t, success, client.Unload(m))
			}
		})
	})
}

// FuzzJITOptions passes arbitrary numbers as options and values. Pointers to buffers are NULL.
func FuzzJITOptions(f *testing.F) {
	f.Add([]byte{0, 1, 2, 4, 6, 7, 8, 9, 33}, uint64(64))
	f.Add([]byte{34}, uint64(0))
	f.Add([]byte{3, 4, 5, 6}, uint64(1<<63))
	open(f, saxpy)
	f.Fuzz(func(t *testing.T, list []byte, value uint64) {
		options, values := make([]uint32, len(list)), make([]uintptr, len(list))
		want := success
		for i, o := range list {
			options[i], values[i] = uint32(o), uintptr(value)
			if o == 3 || o == 5 {
				values[i] = 0
			}
			if o >= 34 {
				want = invalidValue
			}
		}
		onThread(t, func() {
			m, answer := client.Load([]byte(saxpy), options, values)
			require.Equal(t, want, answer)
			if answer == success {
				client.Unload(m)
			}
		})
	})
}

// FuzzLaunch compares the accepted launches with the limits in the CUDA C++
// Programming Guide. The kernel's 24 bytes of parameters are passed as a block.
func FuzzLaunch(f *testing.F) {
	f.Add(uint32(1), uint32(1), uint32(1), uint32(1), uint32(1), uint32(1), uint32(0), uint8(24))
	f.Add(uint32(2), uint32(3), uint32(4), uint32(32), uint32(32), uint32(1), uint32(49152), uint8(24))
	f.Add(uint32(1), uint32(1), uint32(1), uint32(1), uint32(1), uint32(65), uint32(0), uint8(24))
	f.Add(uint32(1), uint32(65536), uint32(1), uint32(1), uint32(1), uint32(1), uint32(0), uint8(24))
	f.Add(uint32(1), uint32(1), uint32(1), uint32(1<<16), uint32(1<<16), uint32(1), uint32(0), uint8(24))
	f.Add(uint32(1), uint32(1), uint32(1), uint32(1), uint32(1), uint32(1), uint32(0), uint8(23))
	k := kernel(f, open(f, saxpy), "saxpy")
	f.Fuzz(func(t *testing.T, gx, gy, gz, bx, by, bz, shared uint32, size uint8) {
		shape := [7]uint32{gx, gy, gz, bx, by, bz, shared}
		want := success
		for i, most := range []uint32{1<<31 - 1, 65535, 65535, 1024, 1024, 64} {
			if shape[i] == 0 || shape[i] > most {
				want = invalidValue
			}
		}
		if uint64(bx)*uint64(by) > 1024 || bx*by*bz > 1024 || shared > 48<<10 || size != 24 {
			want = invalidValue
		}
		if want == success && uint64(gx)*uint64(gy)*uint64(gz) > 4096 {
			t.Skip("too much to run")
		}
		onThread(t, func() {
			block := make([]byte, 256) // no elements, so that nothing is accessed
			require.Equal(t, want, client.Launch(1, k, shape, client.Buffer(block, int(size))), "%v, %d bytes", shape, size)
			require.Equal(t, success, client.Synchronize())
		})
	})
}

// FuzzProcAddress checks that every result is one that the documentation of cuGetProcAddress permits.
func FuzzProcAddress(f *testing.F) {
	for _, name := range []string{"cuMemAlloc", "cuMemAlloc_v2", "cuLaunchKernel", "cuGraphInstantiate", "", "cu", "cuNothing"} {
		f.Add(name, 12000, uint64(0))
		f.Add(name, 3020, uint64(2))
	}
	f.Add("cuInit", 99999, uint64(0))
	f.Add("cuInit", 12000, uint64(3))
	f.Fuzz(func(t *testing.T, name string, release int, flags uint64) {
		found, why, answer := client.ProcAddress(name, int(int32(release)), flags)
		if flags > 2 {
			require.Equal(t, invalidValue, answer)
			return
		}
		require.Equal(t, success, answer)
		require.Equal(t, why == 0, found)
		require.LessOrEqual(t, why, 2)
	})
}
