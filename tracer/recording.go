package tracer

// recording is the calls of a program, in their order. They lie in blocks, so that a long trace is never copied. A block holds no
// pointers: the collector would look through operations, with theirs, again and again while there come more, and that took
// half the time of a long trace.
type recording struct {
	blocks []*recordingBlock
	n      int
}

// recordingBlock holds two words for each call.
type recordingBlock struct {
	what [recordingLen]int32   // a launch, as its index in Tracer.made, or ^ an index in Tracer.others
	pc   [recordingLen]uintptr // return address of the traced call
}

const recordingLen = 1024

func (r *recording) len() int { return r.n }

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
