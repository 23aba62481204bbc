package sim

// Counters holds statistics of a device since New.
type Counters struct {
	Launches      int64 // kernels, including those of graphs
	GraphLaunches int64
	CopiedBytes   int64 // by copies in streams and graphs

	MemoHits    int64 // launches that reused an earlier result
	MemoHashed  int64 // bytes hashed to find equal launches
	MemoBytes   int64 // bytes of results held now
	MemoEntries int64 // results held now
}

// Counters returns the statistics so far. They exclude work that has not been simulated yet because no wait required
// it.
func (d *Device) Counters() Counters {
	d.settled()
	c := d.count
	if d.memo != nil {
		d.memo.report(&c)
	}
	return c
}
