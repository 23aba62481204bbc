package distribute

import (
	"slices"
	"sort"

	"github.com/reprise-gpu/reprise/ir"
)

// fresh is the coherence state of one buffer: ascending ranges of places without gaps that together are the whole buffer.
type fresh []Held

// newFresh returns the state of a buffer before the first step. The contents of a temporary buffer are undefined, so every
// device holds them.
func newFresh(b *ir.Buffer, f *Frame) fresh {
	if b.Size() == 0 {
		return nil
	}
	return fresh{{Hi: f.places(b.Size()), Origin: b.Role != ir.Temporary, All: b.Role == ir.Temporary, writer: -1}}
}

// split makes a range begin at a byte and returns its index.
func (f *fresh) split(at int64) int {
	i := sort.Search(len(*f), func(i int) bool { return (*f)[i].Hi > at })
	if i == len(*f) || (*f)[i].Lo == at {
		return i
	}
	left := (*f)[i]
	left.Hi = at
	(*f)[i].Lo = at
	*f = slices.Insert(*f, i, left)
	return i + 1
}

// cut returns the ranges of the bytes [lo, hi) after splitting those at its ends.
func (f *fresh) cut(lo, hi int64) []Held {
	if lo >= hi {
		return nil
	}
	i := f.split(lo)
	j := f.split(hi)
	return (*f)[i:j]
}

// write records that an operation has written [lo, hi) on a device, or on all devices if device is -1.
func (f *fresh) write(lo, hi int64, device int32, by ir.OpID) {
	if lo >= hi {
		return
	}
	i := f.split(lo)
	j := f.split(hi)
	h := Held{Lo: lo, Hi: hi, writer: by, now: true}
	if h.All = device < 0; !h.All {
		h.Devices = []int32{device}
	}
	*f = slices.Replace(*f, i, j, h)
}

// On reports whether a device holds the bytes.
func (h *Held) On(device int32) bool { return h.All || slices.Contains(h.Devices, device) }

// add records that a device holds the bytes. Ranges share lists of devices, so the list is copied.
func (h *Held) add(device int32) {
	if !h.On(device) {
		h.Devices = append(slices.Clip(h.Devices), device)
	}
}

// same reports whether two ranges have the same holders.
func (h *Held) same(o *Held) bool {
	return h.All == o.All && h.Origin == o.Origin && h.writer == o.writer && slices.Equal(h.Devices, o.Devices)
}

// settle ends a step: it joins neighbours with the same holders.
func (f *fresh) settle() {
	kept := (*f)[:0]
	for _, h := range *f {
		h.now = false
		if n := len(kept) - 1; n >= 0 && kept[n].same(&h) {
			kept[n].Hi = h.Hi
			continue
		}
		kept = append(kept, h)
	}
	*f = kept
}

// equal reports whether two settled states are the same.
func (f fresh) equal(o fresh) bool {
	return slices.EqualFunc(f, o, func(a, b Held) bool { return a.Lo == b.Lo && a.Hi == b.Hi && a.same(&b) })
}
