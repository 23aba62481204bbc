package fatbin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/fatbin"
)

func read(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

var layout = regexp.MustCompile(`(?m)//.*$|\s+`)

// words removes comments and white space, which fatbins do not keep, from PTX.
func words(ptx []byte) string { return layout.ReplaceAllString(string(ptx), "") }

// TestPTX compares the PTX in fatbins with the text that the same compiler writes to a file.
func TestPTX(t *testing.T) {
	for _, name := range []string{"plain.fatbin", "packed.fatbin"} {
		image := read(t, name)
		for arch, want := range map[int]string{52: "store_52.ptx", 74: "store_52.ptx", 75: "store_75.ptx", 90: "store_75.ptx"} {
			text, err := fatbin.PTX(image, arch)
			require.NoError(t, err, "%s for sm_%d", name, arch)
			require.Equal(t, words(read(t, want)), words(text), "%s for sm_%d", name, arch)
		}
		_, err := fatbin.PTX(image, 50)
		require.ErrorIs(t, err, fatbin.ErrNoPTX)
		size, err := fatbin.Size(image)
		require.NoError(t, err)
		require.Equal(t, len(image), size)
	}
}

func TestPTXOfFatbinsCutShort(t *testing.T) {
	image := read(t, "packed.fatbin")
	for n := range image {
		_, err := fatbin.PTX(image[:n], 90)
		require.Error(t, err, "%d bytes", n)
	}
}

// FuzzPTX checks that no input causes a panic, or an allocation of the size that a header announces.
func FuzzPTX(f *testing.F) {
	f.Add(read(f, "plain.fatbin"))
	f.Add(read(f, "packed.fatbin"))
	f.Fuzz(func(t *testing.T, image []byte) {
		text, err := fatbin.PTX(image, 90)
		if err == nil {
			require.False(t, bytes.Contains(text, []byte{0}))
			require.LessOrEqual(t, len(text), 256*len(image))
		}
	})
}
