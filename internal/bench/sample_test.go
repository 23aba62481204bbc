package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestSampledKernelsTakeAsLongAsWholeOnes expects about the same time of every kernel of the suite whether 16 blocks
// represent its grid or all blocks run.
func TestSampledKernelsTakeAsLongAsWholeOnes(t *testing.T) {
	const within = 0.1
	sizes := map[string]int{"vec": 1 << 18, "bs": 1 << 14, "img": 300, "ml": 2500, "hits": 1 << 16, "dl": 300}
	for _, profile := range []string{"gtx1660s", "p100"} {
		p, err := profiles.Lookup(profile)
		require.NoError(t, err)
		custom := *p
		custom.L2Bytes = 64 << 10 // with a larger cache, arrays this small would stay in it after Reset, which writes them only if all blocks run
		for _, w := range Workloads() {
			t.Run(w.Name+" on "+profile, func(t *testing.T) {
				if testing.Short() && profile == "p100" {
					t.Skip("takes seconds; one device is enough in short")
				}
				params := Params{Size: sizes[w.Name], Threads: 32}
				whole := profileOf(t, w, params, sim.Options{Custom: &custom})
				params.Sampled = true
				sampled := profileOf(t, w, params, sim.Options{Custom: &custom, Sample: 16})
				require.Len(t, sampled, len(whole))
				for i := range whole {
					require.Equal(t, whole[i].Kernel, sampled[i].Kernel)
					t.Logf("%s: %.1f us whole, %+.2f %%", whole[i].Kernel, whole[i].TimePS/1e6, 100*(sampled[i].TimePS/whole[i].TimePS-1))
					// In kernels this short, some blocks make one iteration of their loop and others two.
					short := 0.2e6 // ps
					require.InDelta(t, whole[i].TimePS, sampled[i].TimePS, max(short, within*whole[i].TimePS), whole[i].Kernel)
				}
			})
		}
	}
}
