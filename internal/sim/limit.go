package sim

// LimitHeap sets the maximum size of all live malloc allocations of kernels, in bytes. The default is 8 MiB. It costs
// no virtual time.
func (d *Device) LimitHeap(bytes int64) { d.memory.LimitHeap(bytes) }

// LimitPrinted sets how many bytes of printf output are kept until the host waits. The default is 1 MiB. It costs no
// virtual time.
func (d *Device) LimitPrinted(bytes int) { d.printed.capacity = bytes }
