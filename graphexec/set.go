package graphexec

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Set changes a scalar parameter for the replays that follow; those already
// enqueued keep the old value. The value is a Go number that fits the
// parameter's type. Only the operations that take the parameter are updated,
// in place. When an update fails the parameter keeps its old value everywhere
// that can still be changed, and the error names the operation.
func (x *Exec) Set(name string, value any) error {
	if x.impl == nil {
		return errClosed
	}
	id, err := x.findParam(name)
	if err != nil {
		return err
	}
	v, err := ir.NewScalar(x.prog.sched.Graph.Params[id].Value.Type, value)
	if err != nil {
		return fmt.Errorf("parameter $%s: %w", name, err)
	}
	return x.patch(id, v)
}

func (x *Exec) findParam(name string) (ir.ParamID, error) {
	g := x.prog.sched.Graph
	if id, ok := g.ParamByName(name); ok {
		return id, nil
	}
	params := g.Params
	if len(params) == 0 {
		return 0, fmt.Errorf("no parameter $%s: the trace declares none", name)
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = "$" + p.Name
	}
	return 0, fmt.Errorf("no parameter $%s: the trace declares %s", name, strings.Join(names, ", "))
}

// patch writes the value into every parameter block that holds it and tells the
// back end, operation by operation.
func (x *Exec) patch(id ir.ParamID, v ir.Scalar) error {
	var bytes, old [8]byte
	binary.LittleEndian.PutUint64(bytes[:], v.Bits)
	size := int(v.Type.Size())
	slots := x.prog.slots[id]
	for i, s := range slots {
		place := x.prog.work[s.op].(*device.Launch).Params[s.offset : s.offset+size]
		copy(old[:], place)
		copy(place, bytes[:size])
		if i+1 < len(slots) && slots[i+1].op == s.op {
			continue // one update for all places in an operation
		}
		if err := x.impl.update(s.op); err != nil {
			x.restore(slots[:i+1], old[:size])
			return opError(x.prog.sched.Graph, s.op, err)
		}
		x.stats.Updates++
	}
	return nil
}

// restore puts the old bytes back after a failed update; errors here would only
// repeat the one being reported.
func (x *Exec) restore(slots []slot, old []byte) {
	for _, s := range slots {
		copy(x.prog.work[s.op].(*device.Launch).Params[s.offset:], old)
		_ = x.impl.update(s.op)
	}
}
