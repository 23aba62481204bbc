package device

// Manager is a device with managed memory: bytes at one address for the host and for
// kernels, which move to whoever touches them.
type Manager interface {
	// AllocManaged returns managed memory, which is on the host until something moves it,
	// and the bytes themselves, which stay valid until Free. The host must leave them alone
	// while work that uses them is under way, and call ToHost before it touches what
	// work may have moved.
	AllocManaged(bytes int64) (Ptr, []byte, error)
	// ToHost waits for all work, then moves managed memory to the host. A GPU's driver would
	// do the same fault by fault as the host touches it; a simulated device cannot see
	// what the host touches, so it has to be told.
	ToHost(p Ptr, bytes int64) error
}

// Prefetch is work that moves managed memory to the device, or to the host, ahead of
// whoever will touch it. Streams and command lists take it; as the node of a graph it
// is refused, for drivers have no such node. A device whose kernels cannot fault, one of a
// compute capability before 6.0, refuses it with InvalidDevice, as its driver does.
type Prefetch struct {
	At       Ptr
	Bytes    int64
	ToDevice bool
	Label    string
}

func (*Prefetch) work() {}

func checkPrefetch(p *Prefetch, info *Info) *Error {
	switch {
	case p.Bytes <= 0:
		return refuse(InvalidValue, "prefetch of %d bytes; want 1 or more", p.Bytes)
	case info.ComputeMajor < 6:
		return refuse(InvalidDevice, "a prefetch on a device of compute capability %d.%d, which moves all managed memory when a kernel starts; leave it out",
			info.ComputeMajor, info.ComputeMinor)
	}
	return nil
}

// CheckNodeWork says why a work cannot be the node of a graph.
func CheckNodeWork(w Work) *Error {
	if p, ok := w.(*Prefetch); ok && p != nil {
		return refuse(NotSupported, "a prefetch as the node of a graph, which drivers do not have; enqueue it in the stream of the graph's launch")
	}
	return nil
}
