package bounded_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bounded"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "four")
	require.NoError(t, os.WriteFile(path, []byte("four"), 0o644))
	for limit, fits := range map[int64]bool{0: false, 3: false, 4: true, 5: true} {
		file, errFile := bounded.ReadFile(path, limit)
		data, err := bounded.Read(path, strings.NewReader("four"), limit)
		if fits {
			assert.NoError(t, errFile)
			assert.NoError(t, err)
			assert.Equal(t, "four", string(file))
			assert.Equal(t, "four", string(data))
			continue
		}
		assert.ErrorAs(t, errFile, new(*fs.PathError))
		assert.ErrorContains(t, errFile, path)
		assert.Equal(t, errFile, err)
		assert.Nil(t, data)
	}
	_, err := bounded.ReadFile(path+"s", 1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
