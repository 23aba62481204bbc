package wrap

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
)

// Logging wraps a device so that every call writes one line to w, in this form:
//
//	Submit(stream1, launch saxpy function1 grid (4,1,1) block (256,1,1) shared 0 params 24 bytes)
//	AddNode(graph1, [node1 node2], memset mem1+0x100 value 0 width 4 count 64) = node3
//	Free(mem1) = CUDA_ERROR_INVALID_VALUE
//
// Handles are named by kind and order of appearance, and addresses by allocation and offset, so that the log is the
// same on every device and in every run. Errors of writing to w are ignored.
func Logging(d device.Device, w io.Writer) device.Device {
	if w == nil {
		return d
	}
	l := &logger{names: map[any]string{}, counts: map[string]int{}}
	return Intercept(d, func(c *Call, next func() error) error {
		args := l.list(c.Args) // formatted before the call, which may free what an argument names
		err := next()
		fmt.Fprintf(w, "%s(%s)%s\n", c.Method, args, l.outcome(c, err))
		return err
	})
}

// logger formats calls and gives stable names to handles and addresses.
type logger struct {
	names  map[any]string // by typed handle
	counts map[string]int
	blocks []block
}

// block is an allocation seen in a call. The latest block at an address is current.
type block struct {
	base, size uint64
	name       string
}

func (l *logger) outcome(c *Call, err error) string {
	if err != nil {
		var e *device.Error
		if errors.As(err, &e) {
			return " = " + e.Code.String()
		}
		return " = " + err.Error()
	}
	if len(c.Results) == 0 {
		return ""
	}
	if p, ok := c.Results[0].(device.Ptr); ok {
		return " = " + l.allocated(c.Method, p, c.Args[0].(int64))
	}
	if _, ok := c.Results[0].(time.Duration); ok {
		return " = a time" // differs from run to run on a real device
	}
	return " = " + l.show(c.Results[0])
}

func (l *logger) allocated(method string, p device.Ptr, size int64) string {
	kind := "mem"
	switch method {
	case "AllocHost":
		kind = "host"
	case "AllocManaged":
		kind = "managed"
	}
	l.blocks = append(l.blocks, block{uint64(p), uint64(max(size, 1)), l.number(kind)})
	return l.blocks[len(l.blocks)-1].name
}

func (l *logger) number(kind string) string {
	l.counts[kind]++
	return fmt.Sprintf("%s%d", kind, l.counts[kind])
}

func (l *logger) handle(kind string, h any) string {
	name, ok := l.names[h]
	if !ok {
		name = l.number(kind)
		l.names[h] = name
	}
	return name
}

func (l *logger) list(args []any) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, l.show(a))
	}
	return strings.Join(parts, ", ")
}

// show formats an argument or a result.
func (l *logger) show(a any) string {
	switch v := a.(type) {
	case device.Ptr:
		return l.address(uint64(v))
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case string:
		return l.text(v)
	case device.Module:
		return l.handle("module", v)
	case device.Function:
		return l.handle("function", v)
	case device.Stream:
		return l.handle("stream", v)
	case device.Event:
		return l.handle("event", v)
	case device.Graph:
		return l.handle("graph", v)
	case device.GraphExec:
		return l.handle("exec", v)
	case device.CommandList:
		return l.handle("list", v)
	case device.Condition:
		return l.handle("condition", v)
	case device.Conditional:
		return join(fmt.Sprintf("%v %s %d bodies", v.Kind, l.show(v.Condition), v.Bodies), v.Label)
	case device.Node:
		return fmt.Sprintf("node%d", v)
	case PeerEvent: // a number, because the names are those of the events of this device
		return fmt.Sprintf("event %d of %s", v.Event, l.show(v.Of))
	case device.Device:
		if absent.Is(v) {
			return "no device"
		}
		return "device " + v.Info().ID
	case []device.Node:
		return l.nodes(v)
	case device.Work:
		return l.work(v)
	case []device.Command:
		return l.commands(v)
	case []device.NodeWork:
		return l.changes(v)
	case nil:
		return "no device"
	}
	return fmt.Sprint(a)
}

func (l *logger) text(s string) string {
	if len(s) > 40 || strings.Contains(s, "\n") {
		return fmt.Sprintf("%d bytes of text", len(s))
	}
	return fmt.Sprintf("%q", s)
}

func (l *logger) address(p uint64) string {
	for _, b := range slices.Backward(l.blocks) {
		if p >= b.base && p-b.base < b.size {
			return offset(b.name, p-b.base)
		}
	}
	return fmt.Sprintf("%#x", p)
}

func offset(name string, n uint64) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s+%#x", name, n)
}

func (l *logger) nodes(ns []device.Node) string {
	var parts []string
	for _, n := range ns {
		parts = append(parts, l.show(n))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (l *logger) work(w device.Work) string {
	if absent.Is(w) {
		return fmt.Sprintf("no work (%T)", w)
	}
	switch w := w.(type) {
	case *device.Launch:
		kind := "launch"
		if w.Cooperative {
			kind = "cooperative launch"
		}
		text := fmt.Sprintf("%s %s grid %v block %v shared %d params %d bytes",
			kind, join(w.Label, l.show(w.Function)), w.Grid, w.Block, w.Shared, len(w.Params))
		if w.Off {
			text += " off"
		}
		if w.Priority != 0 {
			text += fmt.Sprintf(" priority %d", w.Priority)
		}
		return text
	case *device.Copy:
		return fmt.Sprintf("copy %s from %s, %d bytes", l.show(w.Dst), l.show(w.Src), w.Bytes)
	case *device.Memset:
		return fmt.Sprintf("memset %s value %d width %d count %d", l.show(w.Dst), w.Value, w.Width, w.Count)
	case *device.HostCall:
		return join("host call", w.Label)
	case *device.Prefetch:
		to := "the host"
		if w.ToDevice {
			to = "the device"
		}
		return fmt.Sprintf("prefetch %s to %s, %d bytes", l.show(w.At), to, w.Bytes)
	}
	return "nothing"
}

func (l *logger) changes(all []device.NodeWork) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, l.show(c.Node)+" "+l.work(c.Work))
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

func join(a, b string) string { return strings.Trim(a+" "+b, " ") }

func (l *logger) commands(cs []device.Command) string {
	var parts []string
	for _, c := range cs {
		switch c.Kind {
		case device.Run:
			parts = append(parts, l.show(c.Stream)+" "+l.work(c.Work))
		case device.Record:
			parts = append(parts, l.show(c.Stream)+" records "+l.show(c.Event))
		case device.Await:
			parts = append(parts, l.show(c.Stream)+" awaits "+l.show(c.Event))
		case device.AwaitPeer:
			parts = append(parts, l.show(c.Stream)+" awaits "+l.show(PeerEvent{c.Peer, c.Event}))
		case device.RunGraph:
			parts = append(parts, l.show(c.Stream)+" runs "+l.show(c.Exec))
		}
	}
	return "[" + strings.Join(parts, "; ") + "]"
}
