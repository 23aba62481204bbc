package device

// Manager is a device with managed memory: memory with one address for the host and for kernels, which migrates to
// the side that accesses it.
type Manager interface {
	// AllocManaged returns the address and the bytes of managed memory, which is initially on the host. The bytes
	// stay valid until Free. The host must not access them while work that uses them is in progress, and must call
	// ToHost before it accesses bytes that work may have moved.
	AllocManaged(bytes int64) (Ptr, []byte, error)
	// ToHost waits for all work, then moves managed memory to the host. The driver of a GPU moves pages when accesses
	// of the host fault. A simulated device cannot detect accesses of the host, so the host must call ToHost.
	ToHost(p Ptr, bytes int64) error
}

// Prefetch is work that moves managed memory to the device, or to the host, before it is accessed. Streams and
// command lists accept it. A graph node refuses it, because drivers have no such node. A device whose kernels cannot
// fault (compute capability below 6.0) refuses it with InvalidDevice, as its driver does.
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

// CheckNodeWork returns an error if a graph node cannot hold the work.
func CheckNodeWork(w Work) *Error {
	if p, ok := w.(*Prefetch); ok && p != nil {
		return refuse(NotSupported, "a prefetch cannot be a node of a graph; enqueue it in the stream of the graph's launch")
	}
	return nil
}
