package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

func TestModuleForAnotherGPU(t *testing.T) {
	for _, test := range []struct {
		profile string
		runs    []string
		not     []string
	}{
		{"gtx960", []string{"sm_50", "sm_52"}, []string{"sm_53", "sm_60", "sm_75"}},
		{"p100", []string{"sm_52", "sm_60"}, []string{"sm_61", "sm_75"}},
		{"gtx1660s", []string{"sm_52", "sm_75"}, []string{"sm_80"}},
		{"a100", []string{"sm_75", "sm_80"}, []string{"sm_86", "sm_90a"}},
		{"h200", []string{"sm_52", "sm_90", "sm_90a", "sm_90f"}, []string{"sm_80a", "sm_89f", "sm_100", "sm_100a"}},
	} {
		d := open(t, Options{Profile: test.profile})
		load := func(target string) error {
			_, err := d.LoadModule("m.ptx", fmt.Sprintf(".version 7.8\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n", target))
			return err
		}
		for _, target := range test.runs {
			assert.NoError(t, load(target), "%s on %s", target, test.profile)
		}
		for _, target := range test.not {
			err := load(target)
			var e *device.Error
			require.ErrorAs(t, err, &e, "%s on %s", target, test.profile)
			assert.Equal(t, device.InvalidPTX, e.Code)
			assert.ErrorContains(t, err, "it is for "+target)
		}
		require.NoError(t, d.Close())
	}
}

// TestKernelsForEveryGPU holds the target that make ptx compiles for against the profiles there are.
func TestKernelsForEveryGPU(t *testing.T) {
	var files []string
	for _, folder := range []string{"../kernels", "../../device/devicetest", "../../examples/cluster", "../../examples/heat", "../../examples/tenants"} {
		some, err := filepath.Glob(folder + "/*.ptx")
		require.NoError(t, err)
		require.NotEmpty(t, some, folder)
		files = append(files, some...)
	}
	for _, p := range profiles.All() {
		d := open(t, Options{Custom: p})
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = d.LoadModule(file, string(text))
			assert.NoError(t, err, p.ID)
		}
		require.NoError(t, d.Close())
	}
}
