package sim

// Counters tells what a device has done since New.
type Counters struct {
	Launches      int64 // kernels, those of graphs included
	GraphLaunches int64
	CopiedBytes   int64 // by copies in streams and graphs

	MemoHits    int64 // launches that reused an earlier result
	MemoHashed  int64 // bytes hashed to find that out
	MemoBytes   int64 // bytes of results held now
	MemoEntries int64 // results held now
}

// Counters returns what has been counted so far. Work that no wait has asked
// for yet is not in it.
func (d *Device) Counters() Counters {
	d.settled()
	c := d.count
	if d.memo != nil {
		d.memo.report(&c)
	}
	return c
}
