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
