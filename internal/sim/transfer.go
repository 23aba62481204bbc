package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Region is the location of a box of bytes: rows that start Pitch bytes apart, in slices that start Slice bytes
// apart.
type Region struct {
	At           device.Ptr // memory known to the device
	Host         []byte     // if not nil, other host memory, from the box's first byte
	Pitch, Slice int64
}

// Transfer is work for the simulated device: a copy of Depth slices of Height rows of Width bytes. Unlike a
// device.Copy it may access host memory that is not pinned. That memory must stay in place until the copy has ended,
// unless Staged is set.
type Transfer struct {
	device.Work // nil: provides the method of the interface
	Dst, Src    Region
	Width       int64
	Height      int64
	Depth       int64
	Staged      bool // host memory is read when the copy is enqueued
	Own         bool // made by the host, which waits for it; a sampled device performs it, like Write and Read
	Label       string
}

// Fill is work for the simulated device: it stores Value into Rows rows of Count elements of Width bytes (1, 2 or 4).
// Rows start Pitch bytes apart.
type Fill struct {
	device.Work // nil: provides the method of the interface
	Dst         device.Ptr
	Pitch       int64
	Value       uint32
	Width       int
	Count, Rows int64
	Label       string
}

// box is the extent of a job with more than one dimension.
type box struct {
	dst, src             Region
	width, height, depth int64 // bytes, rows, slices
}

// span returns the number of bytes from the first to the last byte of a box in a region. It returns false on
// overflow.
func (b *box) span(r *Region) (int64, bool) {
	if b.width == 0 || b.height == 0 || b.depth == 0 {
		return 0, true
	}
	rows, ok1 := product(b.height-1, r.Pitch)
	slices, ok2 := product(b.depth-1, r.Slice)
	n := rows + slices + b.width
	return n, ok1 && ok2 && rows|slices|b.width < 1<<62 && n >= 0
}

// product returns a * b for operands that are not negative, or false on overflow.
func product(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo < 1<<62
}

func (b *box) bytes() int64 { return b.width * b.height * b.depth }

func (d *Device) fillTransfer(j *job, t *Transfer) *device.Error {
	b := &box{dst: t.Dst, src: t.Src, width: t.Width, height: t.Height, depth: t.Depth}
	if err := first(d.checkBox(b), d.checkRegion(b, &b.dst, d.writable), d.checkRegion(b, &b.src, d.within)); err != nil {
		return err
	}
	if t.Staged {
		b.src.Host = slices.Clone(b.src.Host)
	}
	*j = job{kind: copyBytes, dst: uint64(t.Dst.At), src: uint64(t.Src.At), bytes: b.bytes(), box: b, own: t.Own, label: t.Label}
	return nil
}

func (d *Device) fillFill(j *job, f *Fill) *device.Error {
	plain := device.Memset{Dst: f.Dst, Value: f.Value, Width: f.Width, Count: f.Count, Label: f.Label}
	if err := contract.CheckWork(&plain, &d.info); err != nil {
		return err
	}
	b := &box{dst: Region{At: f.Dst, Pitch: f.Pitch}, width: f.Count * int64(f.Width), height: f.Rows, depth: 1}
	if f.Rows > 1 && f.Pitch%int64(f.Width) != 0 {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("rows %d bytes apart of %d-byte elements", f.Pitch, f.Width)}
	}
	if err := first(d.checkBox(b), d.checkRegion(b, &b.dst, d.writable)); err != nil {
		return err
	}
	*j = job{kind: memset, dst: uint64(f.Dst), bytes: b.bytes(), value: f.Value, width: f.Width, box: b, label: f.Label}
	return nil
}

func (d *Device) checkBox(b *box) *device.Error {
	area, ok1 := product(b.width, b.height)
	_, ok2 := product(area, b.depth)
	if b.width < 0 || b.height < 0 || b.depth < 0 || !ok1 || !ok2 {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("a box of %d x %d x %d bytes", b.width, b.height, b.depth)}
	}
	return nil
}

// checkRegion returns an error if a region cannot hold the box, if its rows overlap, or if check refuses its bytes.
func (d *Device) checkRegion(b *box, r *Region, check func(device.Ptr, int64) *device.Error) *device.Error {
	n, ok := b.span(r)
	switch {
	case r.Pitch < 0 || r.Slice < 0 || !ok,
		b.height > 1 && r.Pitch < b.width, b.depth > 1 && r.Slice < r.Pitch*(b.height-1)+b.width:
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("a box of %d x %d x %d bytes in rows %d and slices %d bytes apart",
			b.width, b.height, b.depth, r.Pitch, r.Slice)}
	case n == 0:
		return nil
	case r.Host == nil:
		return check(r.At, n)
	case int64(len(r.Host)) < n:
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes of host memory for a box that spans %d", len(r.Host), n)}
	}
	return nil
}

// each calls f with the offsets of each row in both regions.
func (b *box) each(f func(dst, src int64)) {
	for z := range b.depth {
		for y := range b.height {
			f(z*b.dst.Slice+y*b.dst.Pitch, z*b.src.Slice+y*b.src.Pitch)
		}
	}
}

// side returns the bytes that a box spans in a region, from reach.
func (b *box) side(r *Region, reach func(uint64, int64) []byte) []byte {
	n, _ := b.span(r)
	if r.Host != nil {
		return r.Host[:n]
	}
	return reach(uint64(r.At), n)
}

// copyBox copies the bytes of a job's box.
func (d *Device) copyBox(b *box) {
	dst, src := b.side(&b.dst, d.reachTo), b.side(&b.src, d.reach)
	if dst == nil || src == nil {
		return
	}
	b.each(func(to, from int64) { copy(dst[to:to+b.width], src[from:]) })
}

// fillBox sets the bytes of a job's box.
func (d *Device) fillBox(b *box, value uint32, width int) {
	if dst := b.side(&b.dst, d.reachTo); dst != nil {
		b.each(func(to, _ int64) { fill(dst[to:to+b.width], value, width) })
	}
}

// fill sets all of dst to elements of width bytes.
func fill(dst []byte, value uint32, width int) {
	var element [4]byte
	binary.LittleEndian.PutUint32(element[:], value)
	done := copy(dst, element[:width])
	for done < len(dst) { // doubling runs at the speed of copy
		done += copy(dst[done:], dst[:done])
	}
}

// direction returns the demand of a copy: the link between two GPUs if there is one, a copy engine and the host link if
// one side is not on the device, and reads and writes of device memory otherwise.
func (d *Device) direction(j *job) model.Demand {
	dst, src := d.memory.Home(j.dst, j.bytes), d.memory.Home(j.src, j.bytes)
	if b := j.box; b != nil {
		dst, src = d.home(b, &b.dst), d.home(b, &b.src)
	}
	if dst == interp.There || src == interp.There {
		if m, ok := d.copyBetween(j.dst, j.src, j.bytes); ok {
			return m
		}
	}
	switch n := float64(j.bytes); {
	case dst == interp.Here && src == interp.Here:
		return model.Demand{Kind: model.CopyOn, Bytes: 2 * n}
	case dst == interp.Here:
		return model.Demand{Kind: model.CopyIn, Bytes: n}
	default:
		return model.Demand{Kind: model.CopyOut, Bytes: n}
	}
}

func (d *Device) home(b *box, r *Region) interp.Home {
	if r.Host != nil {
		return interp.Host
	}
	n, _ := b.span(r)
	return d.memory.Home(uint64(r.At), n)
}
