package fatbin

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// archive returns a library archive of files, with a table of symbols and one of names.
func archive(files ...[]byte) []byte {
	var b bytes.Buffer
	b.WriteString(ArchiveMagic)
	add := func(name string, data []byte) {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", len(data))
		b.Write(data)
		if len(data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	add("/", []byte("symbols"))
	add("//", []byte("a_long_name.o/\n"))
	for i, f := range files {
		add(fmt.Sprintf("%d.o/", i), f)
	}
	return b.Bytes()
}

func TestMembers(t *testing.T) {
	members, err := Members(archive([]byte("odd"), nil, []byte("even")))
	require.NoError(t, err)
	require.Equal(t, []string{"odd", "", "even"}, []string{string(members[0]), string(members[1]), string(members[2])})
	members, err = Members([]byte(ArchiveMagic))
	require.NoError(t, err)
	require.Empty(t, members)
	whole := archive([]byte("four"))
	for n := range len(whole) {
		if _, err := Members(whole[:n]); err == nil {
			require.Contains(t, []int{len(ArchiveMagic), len(ArchiveMagic) + 60 + 7, len(ArchiveMagic) + 60 + 8, len(ArchiveMagic) + 60 + 8 + 60 + 15, len(ArchiveMagic) + 60 + 8 + 60 + 16}, n)
		}
	}
}

// TestDeviceRuntimeLibrary reads the toolkit's device runtime library, which has PTX only for its newest architecture.
func TestDeviceRuntimeLibrary(t *testing.T) {
	var text []byte
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libcudadevrt.a", "/usr/local/cuda/lib64/libcudadevrt.a"} {
		if b, err := os.ReadFile(path); err == nil {
			text = b
		}
	}
	if text == nil {
		t.Skip("no CUDA toolkit here")
	}
	members, err := Members(text)
	require.NoError(t, err)
	require.NotEmpty(t, members)
	fatbins, err := InObject(members[0])
	require.NoError(t, err)
	require.NotEmpty(t, fatbins)
	ptx, err := PTX(fatbins[0], 90)
	require.NoError(t, err)
	require.Contains(t, string(ptx), ".version")
	_, err = PTX(fatbins[0], 30)
	require.ErrorIs(t, err, ErrNoPTX)
}

func TestInObjectRefuses(t *testing.T) {
	_, err := InObject([]byte("text"))
	require.Error(t, err)
}
