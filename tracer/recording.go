package tracer

import "github.com/reprise-gpu/reprise/ir"

// recording is the list of the calls of a program, in program order. It grows by blocks, so that a long
// trace is never copied.
//
// A call is two numbers, not an ir.Op, because the garbage collector need not scan blocks without
// pointers. With operations in their place, scanning took half the time of a long trace.
type recording struct {
	blocks    []*recordingBlock
	n         int
	labels    map[ir.OpID]string    // of named calls
	after     map[ir.OpID][]ir.OpID // calls that a call is declared to follow, in order
	collected bool                  // the calls have become operations
}

// recordingBlock holds the numbers of recordingLen calls.
type recordingBlock struct {
	what [recordingLen]int32   // of a launch, its index in Tracer.made; of another call, ^index in Tracer.others
	pc   [recordingLen]uintptr // return address of the traced call
}

// recordingLen is the number of calls in a block: 12 KiB.
const recordingLen = 1024

func (r *recording) len() int { return r.n }

// annotate sets what was declared of single calls, which have become operations: labels and explicit order.
func (r *recording) annotate(ops []ir.Op) {
	for id, label := range r.labels {
		ops[id].Label = label
	}
	for id, after := range r.after {
		ops[id].After = after
	}
	r.collected = true
}

// add appends a call.
func (r *recording) add(what int32, pc uintptr) {
	i := r.n % recordingLen
	if i == 0 {
		r.blocks = append(r.blocks, new(recordingBlock))
	}
	b := r.blocks[len(r.blocks)-1]
	b.what[i], b.pc[i] = what, pc
	r.n++
}

func (r *recording) what(i int) int32 { return r.blocks[i/recordingLen].what[i%recordingLen] }
func (r *recording) pc(i int) uintptr { return r.blocks[i/recordingLen].pc[i%recordingLen] }
