package sim

// LimitHeap sets what malloc in kernels may have at one time, in bytes: 8 MiB when
// nobody does. It costs the host nothing.
func (d *Device) LimitHeap(bytes int64) { d.memory.LimitHeap(bytes) }

// LimitPrinted sets how much output of printf waits for the host, in bytes: 1 MiB when
// nobody does. It costs the host nothing.
func (d *Device) LimitPrinted(bytes int) { d.printed.most = bytes }
