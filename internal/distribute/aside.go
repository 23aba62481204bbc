package distribute

import "github.com/reprise-gpu/reprise/ir"

// setAside marks the launches that run in a lane of their own, beside those that follow: launches that are not split, leave
// multiprocessors idle, and write only buffers that no other operation accesses, such as the norm of a change. Launches that follow,
// in the step or in the next one, then do not wait for them.
func (s *splitter) setAside(list []Decision, o Overlap) {
	if o == OverlapNone {
		return
	}
	users := s.users()
	for v := range list {
		d := &list[v]
		d.Aside = d.How != Split && s.g.Ops[v].Kind == ir.KindLaunch && s.leavesIdle(d) && (o == OverlapAll || lasts(d)) && writesAlone(d, users)
	}
}

// lasting is the number of bytes for each block from which on a launch of few blocks takes longer than the launch of a graph and the
// waits around it. A block of 256 threads that adds up numbers moves 7 bytes in a nanosecond on an H200.
const lasting = 32 << 10

// lasts reports whether the blocks of a launch are predicted to take longer than a graph of their own costs.
func lasts(d *Decision) bool {
	c, bytes := &d.Chunks[0], int64(0)
	for _, a := range c.Accesses {
		bytes += a.Hi - a.Lo
	}
	return bytes >= lasting*c.Count
}

// users returns the number of operations that access each buffer.
func (s *splitter) users() []int {
	count := make([]int, len(s.g.Buffers))
	last := make([]int, len(s.g.Buffers)) // the latest one, plus 1
	var scratch [2]ir.Access
	for v := range s.g.Ops {
		for _, a := range s.g.Ops[v].Accesses(&scratch) {
			if last[a.Buffer] != v+1 {
				count[a.Buffer]++
				last[a.Buffer] = v + 1
			}
		}
	}
	return count
}

// leavesIdle reports whether each chunk has fewer blocks than its device has multiprocessors.
func (s *splitter) leavesIdle(d *Decision) bool {
	for i := range d.Chunks {
		if c := &d.Chunks[i]; c.Count >= int64(s.layout.Devices[c.Device].SMs) {
			return false
		}
	}
	return true
}

// writesAlone reports whether a launch writes, and only buffers that one operation accesses.
func writesAlone(d *Decision, users []int) bool {
	writes := false
	for _, a := range d.Chunks[0].Accesses {
		if a.Mode.Writes() {
			writes = true
			if users[a.Buffer] > 1 {
				return false
			}
		}
	}
	return writes
}
