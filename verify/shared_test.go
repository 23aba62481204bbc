package verify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/order"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestSharedMemory gives two temporaries the same addresses. In the first program the uses of @b begin behind those
// of @a, though nothing orders them; in the second one @b is written before @a was read.
func TestSharedMemory(t *testing.T) {
	const buffers = `graph shared {
  buffer @a f32[64] device(0) temporary
  buffer @b f32[64] device(0) temporary
  buffer @x f32[64] device(0) inout
  buffer @y f32[64] device(0) inout
`
	for _, c := range []struct{ ops, strategy, want string }{
		{"%0 = memset @a u32=1\n%1 = copy @a -> @x\n%2 = memset @b u32=2\n%3 = copy @b -> @y\n}", "nimble", `copy:x reads @a[0:256], which memset:b writes: nothing orders them
  an execution in which they overlap:
    memset:a
    copy:x, and at the same time memset:b
`},
		{"%0 = memset @a u32=1\n%1 = memset @b u32=2\n%2 = copy @a -> @x\n%3 = copy @b -> @y\n}", "serial", `copy:x reads memory that memset:b has overwritten with @b[0:256]
`},
		{"%0 = memset @a u32=1\n%1 = copy @a -> @x\n%2 = memset @b u32=2\n%3 = copy @b -> @y\n}", "serial", ""},
	} {
		f, err := ir.Load("shared.rir", buffers+c.ops)
		require.NoError(t, err)
		plan, err := optimizer.Plan(f.Graph, optimizer.Options{Strategy: c.strategy})
		require.NoError(t, err)
		l, err := lower(plan.Schedule, graphexec.Graph)
		require.NoError(t, err)
		require.Empty(t, l.unordered(order.Kept))
		l.shared([]device.Ptr{4096, 4096, 8192, 16384})
		text := ""
		for _, need := range l.unordered(order.Kept) {
			race := l.race(need, order.Kept)
			text += race.String()
			break
		}
		for i := range l.overlaid {
			text += l.overlaid[i].String()
		}
		assert.Equal(t, c.want, text)
	}
}
