package ranks

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/ranks/pack"
	"github.com/reprise-gpu/reprise/ir"
)

// mover makes the work of a transfer of boxes of a buffer. A contiguous box is a copy, and one with a stride is a kernel, however
// many rows it has. The kernel writes to the memory of the peer. Boxes for the host are first packed in memory of the device,
// because kernels do not reach pinned memory on all devices, and copied from there:
//
//	rows of a buffer ── kernel ─► scratch ── copy ─► staging memory          send
//	rows of a buffer ◄─ kernel ── scratch ◄─ copy ── staging memory          receive
type mover struct {
	code    *code
	dev     int // of the rank
	memory  *allocations
	scratch device.Ptr
	buffer  ir.BufferID
	boxes   []box.Box
}

// push returns the work that copies the boxes to the same places of a peer.
func (m *mover) push(peer *allocations) (list []device.Work, err error) {
	for _, b := range m.boxes {
		w, err := m.move(&b, peer.byte(m.buffer, b.Lo), m.memory.byte(m.buffer, b.Lo), b.Stride[0], b.Stride[0], "push")
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// stage returns the work that copies the boxes to staging memory, one after the other, or from there.
func (m *mover) stage(at device.Ptr, out bool) (list []device.Work, err error) {
	bytes := int64(0)
	packed := false
	for _, b := range m.boxes {
		bytes += b.Bytes()
		packed = packed || !b.Contiguous()
	}
	if !packed {
		return m.rows(at, out)
	}
	if list, err = m.rows(m.scratch, out); err != nil {
		return nil, err
	}
	label := m.memory.g.Buffers[m.buffer].Name
	if out {
		return append(list, &device.Copy{Dst: at, Src: m.scratch, Bytes: bytes, Label: "send " + label}), nil
	}
	return append([]device.Work{&device.Copy{Dst: m.scratch, Src: at, Bytes: bytes, Label: "receive " + label}}, list...), nil
}

// rows returns the work that copies the boxes to consecutive memory, or from there.
func (m *mover) rows(at device.Ptr, out bool) (list []device.Work, err error) {
	for _, b := range m.boxes {
		var w device.Work
		if here := m.memory.byte(m.buffer, b.Lo); out {
			w, err = m.move(&b, at, here, b.Run, b.Stride[0], "send")
		} else {
			w, err = m.move(&b, here, at, b.Stride[0], b.Run, "receive")
		}
		if err != nil {
			return nil, err
		}
		list, at = append(list, w), at+device.Ptr(b.Bytes())
	}
	return list, nil
}

// move returns the work that moves one box. The rows are dstPitch and srcPitch bytes apart.
func (m *mover) move(b *box.Box, dst, src device.Ptr, dstPitch, srcPitch int64, what string) (device.Work, error) {
	label := what + " " + m.memory.g.Buffers[m.buffer].Name
	if b.Contiguous() {
		return &device.Copy{Dst: dst, Src: src, Bytes: b.Bytes(), Label: label}, nil
	}
	size := pack.Element(uint64(dst), uint64(src), uint64(b.Run), uint64(dstPitch), uint64(srcPitch))
	f, err := m.code.function(m.dev, "reprise_pack", pack.PTX, fmt.Sprintf("pack%d", 8*size))
	if err != nil {
		return nil, err
	}
	blocks, err := pack.Blocks(b.Bytes() / size)
	if err != nil {
		return nil, err
	}
	var params []byte
	for _, v := range [4]uint64{uint64(dst), uint64(src), uint64(dstPitch), uint64(srcPitch)} {
		params = binary.LittleEndian.AppendUint64(params, v)
	}
	params = binary.LittleEndian.AppendUint32(params, uint32(b.Run/size))
	params = binary.LittleEndian.AppendUint32(params, uint32(b.Bytes()/size))
	return &device.Launch{
		Function: f, Grid: device.Dim3{X: blocks, Y: 1, Z: 1}, Block: device.Dim3{X: pack.Threads, Y: 1, Z: 1}, Params: params, Label: label,
	}, nil
}
