package sim_test

import (
	"container/list"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// lru is a cache of sectors, one by one.
type lru struct {
	size    int
	order   list.List // of *sector, the last used first
	at      map[int]*list.Element
	traffic int // sectors fetched and written back
}

type cached struct {
	sector int
	dirty  bool
}

func (c *lru) use(sector int, store bool) {
	e := c.at[sector]
	if e == nil {
		e = c.order.PushFront(&cached{sector: sector})
		c.at[sector] = e
		if !store { // whole sectors are stored
			c.traffic++
		}
	}
	c.order.MoveToFront(e)
	s := e.Value.(*cached)
	if s.dirty = s.dirty || store; c.order.Len() > c.size {
		old := c.order.Remove(c.order.Back()).(*cached)
		delete(c.at, old.sector)
		if old.dirty {
			c.traffic++
		}
	}
}

// What a gather moves between L2 and DRAM is what an LRU cache of L2's size makes of its
// accesses, in whichever order blocks run: a sector for each of them once the array is much
// larger than L2. The estimate is within a fifth of that.
func TestGathersMissL2(t *testing.T) {
	const n = 1 << 19
	text, err := os.ReadFile("testdata/kernels/timing.ptx")
	require.NoError(t, err)
	for _, l2 := range []int{64 << 10, 1 << 20, 4 << 20} {
		r := rand.New(rand.NewPCG(51, 52))
		index := make([]int32, n)
		for i := range index {
			index[i] = r.Int32N(n)
		}
		c := lru{size: l2 / 32, at: map[int]*list.Element{}}
		for range 2 { // the second time with what the first left
			c.traffic = 0
			for i, x := range index {
				c.use(i/8, false)
				c.use(n+int(x)/8, false)
				c.use(2*n+i/8, true)
			}
		}
		p := profile(t, "gtx1660s")
		p.L2Bytes = int64(l2)
		g := loadWith(t, sim.Options{Custom: p, Sample: 8, Memo: sim.MemoOff}, "timing.ptx", string(text))
		at, x, y := up(g, index), zeros[float32](g, n), zeros[float32](g, n)
		g.StartTimeline()
		for range 2 {
			g.launch("gather", line(n/256, 256), int32(n), at, x, y)
		}
		require.NoError(t, g.SynchronizeAll())
		_, _, work := g.Timeline()
		assert.InEpsilon(t, 32*c.traffic, work[1].Launched.DRAMBytes, 0.2, "L2 of %d KiB", l2>>10)
		require.NoError(t, g.Close())
	}
}

// The blocks of a stencil read the rim of the blocks beside them, which they find in L2
// however large the plane is.
func TestStencilsDoNotMissL2(t *testing.T) {
	const side = 1024
	text, err := os.ReadFile("testdata/kernels/stencil.ptx")
	require.NoError(t, err)
	p := profile(t, "gtx1660s")
	p.L2Bytes = 512 << 10
	g := loadWith(t, sim.Options{Custom: p, Sample: 16, Memo: sim.MemoOff}, "stencil.ptx", string(text))
	in, out := zeros[float32](g, side*side), zeros[float32](g, side*side)
	g.StartTimeline()
	g.launch("star2d", plane(side/32, side/8, 32, 8), in, out, int32(side), int32(side))
	require.NoError(t, g.SynchronizeAll())
	_, _, work := g.Timeline()
	assert.InEpsilon(t, 2*4*side*side, work[0].Launched.DRAMBytes, 0.1)
	require.NoError(t, g.Close())
}
