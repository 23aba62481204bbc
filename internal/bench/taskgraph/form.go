package taskgraph

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/ir"
)

// Empty returns the graph with empty operations. The duration of a task is its work times unit.
func (g *Graph) Empty(unit time.Duration) *ir.Graph {
	out := &ir.Graph{Name: fmt.Sprintf("%s-%v", g.Name, unit)}
	for _, t := range g.tasks {
		out.Ops = append(out.Ops, ir.Op{Kind: ir.KindEmpty, Cost: int64(math.Ceil(t.work * float64(unit))), After: ids(t.after)})
	}
	return out
}

// ids converts tasks to operations, ascending and without duplicates.
func ids(tasks []int) []ir.OpID {
	list := make([]ir.OpID, len(tasks))
	for i, t := range tasks {
		list[i] = ir.OpID(t)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Launches returns the graph as a program. A task is a launch with blocks thread blocks per unit of work.
func (g *Graph) Launches(blocks int) *ir.Graph {
	b := &builder{out: &ir.Graph{
		Name:    fmt.Sprintf("%s-%dblocks", g.Name, blocks),
		Modules: []ir.Module{{Name: "task", File: "task.ptx", Source: taskPTX}},
	}}
	b.uploads(int64(blocks))
	read := make([]bool, len(g.tasks))
	for v, t := range g.tasks {
		for _, u := range t.after {
			read[u] = true
		}
		b.launch(v, max(1, int64(math.Ceil(t.work*float64(blocks)))), t.after)
	}
	left := transfers
	for v := range g.tasks {
		if !read[v] && left > 0 {
			left--
			b.download(v)
		}
	}
	return b.out
}

const (
	blockThreads = 128
	blockBytes   = 4 * blockThreads // bytes that a block writes
	// transfers is the maximum number of copies per direction, so that the link does not dominate the plan.
	transfers = 4
)

// taskPTX is the PTX of the tasks' kernel, so that the saved graph is complete. It is never run: the declarations of
// the launches state their accesses.
const taskPTX = `.version 7.0
.target sm_52
.address_size 64
.visible .entry task(.param .u64 task_param_0) { ret; }
`

// builder adds buffers and operations to a program.
type builder struct {
	out     *ir.Graph
	inputs  []ir.BufferID // device buffers
	written []ir.BufferID // output buffer of each task
}

func (b *builder) buffer(name string, bytes int64, place ir.PlaceKind, role ir.Role) ir.BufferID {
	b.out.Buffers = append(b.out.Buffers, ir.Buffer{Name: name, Elem: ir.U8, Len: bytes, Place: ir.Place{Kind: place}, Role: role})
	return ir.BufferID(len(b.out.Buffers) - 1)
}

func (b *builder) whole(id ir.BufferID) ir.Range {
	return ir.Range{Buffer: id, Hi: b.out.Buffers[id].Len}
}

func (b *builder) copy(dst, src ir.BufferID) {
	b.out.Ops = append(b.out.Ops, ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Dst: b.whole(dst), Src: b.whole(src)}})
}

// uploads adds the copies of the inputs of tasks without predecessors.
func (b *builder) uploads(blocks int64) {
	for i := range transfers {
		host := b.buffer(fmt.Sprintf("in%d_host", i), blocks*blockBytes, ir.PinnedHost, ir.Input)
		b.inputs = append(b.inputs, b.buffer(fmt.Sprintf("in%d", i), blocks*blockBytes, ir.OnDevice, ir.Temporary))
		b.copy(b.inputs[i], host)
	}
}

func (b *builder) launch(v int, blocks int64, after []int) {
	out := b.buffer(fmt.Sprintf("t%d", v), blocks*blockBytes, ir.OnDevice, ir.Temporary)
	b.written = append(b.written, out)
	uses := []ir.Access{{Range: b.whole(out), Mode: ir.Write}}
	for _, u := range ids(after) {
		uses = append(uses, ir.Access{Range: b.whole(b.written[u]), Mode: ir.Read})
	}
	if len(after) == 0 {
		uses = append(uses, ir.Access{Range: b.whole(b.inputs[v%len(b.inputs)]), Mode: ir.Read})
	}
	b.out.Ops = append(b.out.Ops, ir.Op{Kind: ir.KindLaunch, Cost: -1, Uses: uses, Launch: &ir.Launch{
		Entry: "task", Grid: ir.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: ir.Dim3{X: blockThreads, Y: 1, Z: 1},
		Args: []ir.Arg{{Kind: ir.ArgBuffer, Buffer: out}},
	}})
}

func (b *builder) download(v int) {
	from := b.written[v]
	host := b.buffer(fmt.Sprintf("t%d_host", v), b.out.Buffers[from].Len, ir.PinnedHost, ir.Output)
	b.copy(host, from)
}
