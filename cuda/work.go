//go:build cuda && cgo

package cuda

import (
	"runtime/cgo"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// copyHosts states which sides of a copy are pinned memory, as a graph node requires.
type copyHosts struct{ dst, src bool }

// lower checks a work and sets c to it. For a host call it returns the hostCall, which the caller must release.
func (d *gpuDevice) lower(c *step, w device.Work) (*hostCall, *device.Error) {
	if err := contract.CheckWork(w, &d.info); err != nil {
		return nil, err
	}
	var f cu.Function
	var hosts copyHosts
	priority := 0
	switch w := w.(type) {
	case *device.Launch:
		k, err := d.funcs.Get(w.Function)
		if err != nil {
			return nil, err
		}
		if err := first(k.takes(w.Params), d.allow(k, int(w.Shared))); err != nil {
			return nil, err
		}
		f, priority = k.fn, d.clampPriority(w.Priority)
	case *device.Copy:
		dst, badDst := d.copies(w.Dst, w.Bytes)
		src, badSrc := d.copies(w.Src, w.Bytes)
		if err := first(badDst, badSrc); err != nil {
			return nil, err
		}
		hosts = copyHosts{dst: dst, src: src}
	case *device.Memset:
		if err := d.own(w.Dst, w.Count*int64(w.Width)); err != nil {
			return nil, err
		}
	case *device.Prefetch:
		if _, err := d.memory.managedAt(w.At, w.Bytes); err != nil {
			return nil, err
		}
	case *device.HostCall:
		call := d.hosts.add(w)
		c.set(w, d.gpu, f, hosts, call.handle, 0)
		return call, nil
	}
	c.set(w, d.gpu, f, hosts, cgo.Handle(0), priority)
	return nil, nil
}
