package sim

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/instrtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// later finds that a file is for a GPU later than any that has a profile.
var later = regexp.MustCompile(`(?m)^\.target sm_\d{3}`)

// TestInstructions runs one small PTX file per instruction: bytes in, bytes out.
func TestInstructions(t *testing.T) {
	files := os.DirFS("testdata/instr")
	names, err := fs.Glob(files, "*.ptx")
	require.NoError(t, err)
	hopper, blackwell := fstest.MapFS{}, fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		if later.Match(text) {
			blackwell[name] = &fstest.MapFile{Data: text}
		} else {
			hopper[name] = &fstest.MapFile{Data: text}
		}
	}
	h200, err := profiles.Lookup("h200")
	require.NoError(t, err)
	instructions(t, h200, hopper)
	newer := *h200
	newer.ComputeMajor, newer.ComputeMinor = 10, 0
	instructions(t, &newer, blackwell)
}

func instructions(t *testing.T, p *model.Profile, suite fs.FS) {
	var out strings.Builder
	printed := func() string {
		defer out.Reset()
		return out.String()
	}
	open := func() device.Device { return open(t, Options{Custom: p, Race: RaceOn, Stdout: &out}) }
	instrtest.Run(t, open, suite, instrtest.Options{Printed: printed})
}
