package wire

import (
	"encoding/binary"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// version is the version of the protocol.
const version = 1

// magic is in the first frame of a client.
const magic = 0x6572616873706572 // "repshare"

const (
	frameSize = 16
	textSize  = 14 // bytes of text in a frame
	maxName   = 64 // bytes of a name
)

// kind is the kind of a frame.
type kind uint8

const (
	hello kind = iota + 1
	text
	stage
	unit
	register
	arrive
	completed
	cancel
	welcome
	registered
	granted
	ended
	canceled
	failed
)

// frame is a message.
type frame struct {
	kind  kind
	small uint8
	short uint16
	word  uint32
	long  uint64
}

// read decodes a frame from its bytes.
func (f *frame) read(b []byte) {
	f.kind, f.small = kind(b[0]), b[1]
	f.short = binary.LittleEndian.Uint16(b[2:])
	f.word = binary.LittleEndian.Uint32(b[4:])
	f.long = binary.LittleEndian.Uint64(b[8:])
}

// append appends the bytes of a frame.
func (f frame) append(b []byte) []byte {
	b = append(b, byte(f.kind), f.small)
	b = binary.LittleEndian.AppendUint16(b, f.short)
	b = binary.LittleEndian.AppendUint32(b, f.word)
	return binary.LittleEndian.AppendUint64(b, f.long)
}

// text appends the text in a frame.
func (f frame) text(b []byte) []byte {
	var all [frameSize]byte
	f.append(all[:0])
	return append(b, all[2:2+min(int(f.small), textSize)]...)
}

// appendText appends the frames of a text.
func appendText(b []byte, s string) []byte {
	for len(s) > 0 {
		var all [frameSize]byte
		n := copy(all[2:], s)
		all[0], all[1] = byte(text), byte(n)
		b = append(b, all[:]...)
		s = s[n:]
	}
	return b
}

func welcomeFrame(form sharing.Form) frame {
	f := frame{kind: welcome, short: uint16(form.Unit), word: version, long: uint64(form.Most)}
	if form.Priorities {
		f.small = 1
	}
	return f
}

func (f frame) form() sharing.Form {
	return sharing.Form{Unit: sharing.UnitKind(f.short), Most: time.Duration(f.long), Priorities: f.small == 1}
}

func stageFrame(s sharing.Stage) frame {
	return frame{kind: stage, word: uint32(len(s.Units)), long: uint64(s.Alone)}
}

func unitFrame(u sharing.Unit) frame {
	return frame{kind: unit, small: uint8(u.Bound), word: uint32(u.SMs), long: uint64(u.Time)}
}

func grantFrame(g sharing.Grant, number uint32) frame {
	return frame{kind: granted, short: uint16(g.Stage), word: uint32(g.First), long: uint64(number)<<32 | uint64(g.Units)}
}

// description returns the frames of a program.
func description(name string, class int, stages []sharing.Stage) []byte {
	b := appendText(nil, name)
	for _, s := range stages {
		b = stageFrame(s).append(b)
		for _, u := range s.Units {
			b = unitFrame(u).append(b)
		}
	}
	return frame{kind: register, small: uint8(class), word: uint32(len(stages))}.append(b)
}
