package auto_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/tracer"
)

// A launch that certainly leaves its slice is refused when it is made, in a repetition too.
func TestASliceThatIsCertainlyLeftIsRefused(t *testing.T) {
	for _, replays := range []bool{false, true} {
		w := watch(t, 2)
		if !replays {
			w.refuse = errors.New("none")
		}
		for i := range 30 {
			for n := range 8 {
				w.Launch(w.square, tracer.Linear(4, 8), w.b[0].Slice(8, 24), w.b[1], n)
			}
			w.Launch(w.square, tracer.Linear(4, 8), w.b[0].Slice(8, 24), w.b[1], i)
			var left *tracer.SliceError
			require.Equal(t, i > 16, errors.As(w.Err(), &left), "%d elements of 16: %v", i, w.Err())
		}
		require.Equal(t, replays, auto.StatsOf(w.Tracer).Replays > 5, "%+v", auto.StatsOf(w.Tracer))
	}
}
