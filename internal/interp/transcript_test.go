package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// paper is a Printer that keeps all that reaches it.
type paper struct {
	strings.Builder
	room int
	lost int64
}

func (p *paper) Room() int    { return p.room }
func (p *paper) Lost(n int64) { p.lost += n }

// TestTranscriptsKeepTheLastBytes compares the last bytes of what blocks of several engines print with those of all of it.
func TestTranscriptsKeepTheLastBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		out := &paper{room: r.IntN(200)}
		engines := []*engine{{}, {}, {}}
		var whole strings.Builder
		for block := range int64(40) {
			e := engines[r.IntN(len(engines))]
			for range r.IntN(4) {
				text := fmt.Sprint(block, strings.Repeat("x", r.IntN(20)))
				text = text[:r.IntN(len(text)+1)]
				whole.WriteString(text)
				e.printed.add(block, text, out.room)
				require.LessOrEqual(t, len(e.printed.text), 2*out.room)
			}
		}
		writePrinted(out, engines)
		last := min(out.room, whole.Len())
		require.GreaterOrEqual(t, out.Len(), last)
		require.Equal(t, whole.String()[whole.Len()-last:], out.String()[out.Len()-last:])
		require.EqualValues(t, whole.Len(), int64(out.Len())+out.lost)
	}
}
