package device

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
