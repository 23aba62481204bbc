package distribute

import (
	"sort"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// Layout is the part of a machine that a plan depends on.
type Layout struct {
	Devices []Device
	// Peers reports whether two devices of one rank copy directly between their memories.
	Peers func(a, b int32) bool
	// Host has the bytes of host memory that each rank may use. 0 is no limit, and so is a list without
	// entries.
	Host []int64
}

// Device is one device of a machine. Devices are numbered across all ranks, those of a rank consecutively.
type Device struct {
	Rank   int32
	Weight float64 // relative speed: the share of a launch that it runs
	Memory int64   // bytes
	SMs    int     // multiprocessors
	GBps   float64 // bandwidth of its memory
}

// Ranks returns the number of ranks.
func (l *Layout) Ranks() int32 { return l.Devices[len(l.Devices)-1].Rank + 1 }

// local returns the devices [lo, hi) of a rank.
func (l *Layout) local(rank int32) (lo, hi int32) {
	from := func(r int32) int32 {
		return int32(sort.Search(len(l.Devices), func(d int) bool { return l.Devices[d].Rank >= r }))
	}
	return from(rank), from(rank + 1)
}

// Plan is a program for all devices of a machine.
type Plan struct {
	Graph     *ir.Graph
	Layout    *Layout
	Decisions []Decision  // by operation of the graph
	Shapes    []box.Shape // of the accesses of chunks, by number less 1
	// Frames has the order of the bytes of each buffer that chunks access with strides: see Frame. It is nil if there are none.
	// Ranges of bytes in Rounds are ranges of places.
	Frames []*Frame
	// Memory has the allocation of each device for each buffer: Memory[d][b]. Lo equals Hi if the device has none.
	Memory [][]Span
	// Scratch has the bytes of memory of each device in which a lane packs rows.
	Scratch [][Lanes]int64
	// Rounds has one entry for each different step. Step i runs Rounds[i], and after the last one the rounds from Repeat
	// on are run again in turn.
	Rounds []Round
	Repeat int
	// Patterns has the shapes of the transfers in the repeated rounds, by operation.
	Patterns []Pattern
}

// Span is the bytes [Lo, Hi) of a buffer.
type Span struct{ Lo, Hi int64 }

// How states where an operation runs.
type How uint8

const (
	Split      How = iota // chunks on several devices
	Whole                 // on one device
	Replicated            // on all devices
)

// Decision is how an operation is distributed.
type Decision struct {
	How    How
	Axis   int    // of Split: 0 for x, 1 for y, 2 for z
	Across int    // devices side by side along the axis below Axis, if chunks are tiles; else 0
	Why    string // the reason
	Chunks []Chunk

	Private []Private // arguments for which each device has a copy
	Aside   bool      // the chunks run in lane Aside
}

// Chunk is the blocks [First, First+Count) of a launch, on one device. For a copy or a fill, the blocks are bytes of the
// destination. For a tile, First is 0 and Count the number of its blocks.
type Chunk struct {
	Device       int32
	First, Count int64
	Tile         *Tile // nil for consecutive blocks
	Accesses     []ir.Access
	Edge         bool // of an overlapped launch: other devices need what it writes
	Back         bool // of an edge: it is behind the interior
}

// Tile is the blocks of a launch whose indices are in [First, First+Count) on each axis.
type Tile struct{ First, Count [3]uint32 }

// Kind is the kind of an operation of a plan.
type Kind uint8

const (
	Run  Kind = iota // a chunk of an operation of the graph
	Load             // bytes of the initial contents, from the host of the rank to the device: before the round and any access to them
	Push             // bytes from the device to Peer, directly
	Out              // bytes from the device to the staging memory of its rank, for an exchange
	In               // bytes from the staging memory to the device, after an exchange
)

// Op is an operation of a plan. It runs on Device.
type Op struct {
	Kind   Kind
	Device int32
	Peer   int32    // of Push: the destination
	Of     ir.OpID  // of Run: the operation of the graph
	Chunk  int32    // of Run: the index in the decision
	Bytes  ir.Range // of all kinds but Run: the bytes that move
	// Exchange is the index of the exchange of an Out or an In in the round, and Part the index of its part. Staged copies
	// between devices of one rank that are no peers have Exchange -1, and Part is the index of the Out in the round.
	Exchange, Part int32
	Waits          []Wait
}

// Wait is an operation on the same rank whose latest run an operation waits for. It does nothing if there was none. An
// operation also runs behind all earlier ones of its lane.
type Wait struct{ Round, Op int32 }

// Round is the operations of one step, in the order of submission. Ops of all ranks are interleaved; each rank runs those
// of its devices.
type Round struct {
	Ops       []Op
	Exchanges []Exchange
	Fresh     [][]Held // by buffer: who holds its bytes after the round
}

// Exchange is the messages between ranks that take place together. The host of a rank enters it before it submits
// operation At: it waits for the Outs of the exchange on its own devices, then sends and receives.
type Exchange struct {
	At    int
	Parts []Part
}

// Part is bytes of an exchange: a message from one rank to another or, if To is -1, a gathering of Bytes whose Pieces all
// ranks receive.
type Part struct {
	From, To int32
	Bytes    ir.Range
	Pieces   []Piece // of a gathering, ascending
}

// Piece is bytes of a gathering and the rank that sends them to all others.
type Piece struct {
	Rank   int32
	Lo, Hi int64
}

// Held is bytes of a buffer and the devices that hold them fresh.
type Held struct {
	Lo, Hi  int64
	All     bool // all devices that have memory for them
	Origin  bool // they are still the initial contents
	Devices []int32
	writer  ir.OpID // the operation that wrote them; -1 for none
	now     bool    // it did so in the present step
}
