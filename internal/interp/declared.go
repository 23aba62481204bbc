package interp

// Declared declares which of the Bytes bytes from Address on the blocks of a launch may access. The block with number b
// in grid order is in layer i = (First + b) / Blocks. It may access those in [i*Step-Before, (i+1)*Step+After).
type Declared struct {
	Address             uint64
	Bytes               int64
	Step, Before, After int64
	First, Blocks       int64 // Blocks are those of a layer
}

// Of returns the bytes [lo, hi) of d, counted from its address, that block b in grid order may access.
func (d *Declared) Of(b int64) (lo, hi int64) {
	i := min((d.First+b)/d.Blocks, (d.Bytes+d.Before)/d.Step+1) // from there on no bytes are left
	return max(0, i*d.Step-d.Before), min(d.Bytes, (i+1)*d.Step+d.After)
}

// excludes reports whether some of n bytes at an address are bytes of d that block b may not access.
func (d *Declared) excludes(b int64, addr, n uint64) bool {
	from := int64(addr - d.Address)
	lo, hi := max(0, from), min(d.Bytes, from+int64(n))
	if lo >= hi {
		return false
	}
	first, end := d.Of(b)
	return lo < first || hi > end
}

// checkDeclared reports an access to n bytes that the launch does not declare. lane is wholeRow for an access of all
// lanes to adjacent elements.
func (v *watcher) checkDeclared(w *warp, in *inst, addr, n uint64, lane int) {
	b := w.eng.linearBlock()
	for i := range w.eng.launch.Declared {
		d := &w.eng.launch.Declared[i]
		if !d.excludes(b, addr, n) {
			continue
		}
		if lane == wholeRow {
			size := n / lanes
			for lane = 0; !d.excludes(b, addr, size); lane++ {
				addr += size
			}
			n = size
		}
		v.hazard(w, Hazard{Kind: Undeclared, Inst: w.kernel.indexOf(in), Thread: w.threadAt(lane), Address: addr, Bytes: n, Stores: in.x.kind != loads, Of: i})
		return
	}
}
