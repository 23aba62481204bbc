package wire

import (
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// describe handles the frames of a client that describe its program.
func (h *hub) describe(c *client, f *frame, now time.Duration) bool {
	switch f.kind {
	case text:
		c.name = f.text(c.name)
		return f.small > 0 && f.small <= textSize && len(c.name) <= maxName && len(c.stages) == 0
	case stage:
		return h.addStage(c, f, now)
	case unit:
		return h.addUnit(c, f, now)
	case register:
		return h.register(c, f, now)
	}
	return false
}

func (h *hub) addStage(c *client, f *frame, now time.Duration) bool {
	l := &h.options.Limits
	alone := time.Duration(f.long)
	if c.missing > 0 || alone < 0 {
		return false
	}
	if len(c.stages) >= l.Stages {
		h.end(c, now, Stages, l.Stages)
		return true
	}
	if int64(f.word) > int64(l.Units-c.units) {
		h.end(c, now, Units, l.Units)
		return true
	}
	if alone > l.Time {
		h.end(c, now, Times, int(l.Time))
		return true
	}
	c.missing, c.time = int(f.word), 0
	c.units += c.missing
	c.stages = append(c.stages, sharing.Stage{Alone: alone})
	return true
}

func (h *hub) addUnit(c *client, f *frame, now time.Duration) bool {
	u := sharing.Unit{Time: time.Duration(f.long), SMs: int(f.word), Bound: sharing.Bound(f.small)}
	if c.missing == 0 || u.Time < 0 || u.SMs > maxSMs || u.Bound > sharing.Memory {
		return false
	}
	if u.Time > h.options.Limits.Time-c.time {
		h.end(c, now, Times, int(h.options.Limits.Time))
		return true
	}
	s := &c.stages[len(c.stages)-1]
	s.Units = append(s.Units, u)
	c.time += u.Time
	c.missing--
	return true
}

// maxSMs bounds the multiprocessors of a unit. No device has as many.
const maxSMs = 1 << 20

func (h *hub) register(c *client, f *frame, now time.Duration) bool {
	if c.missing > 0 || len(c.stages) == 0 || int(f.word) != len(c.stages) || f.small >= sharing.Classes || !printable(c.name) {
		return false
	}
	name := string(c.name)
	c.phase = running
	c.class = min(int(f.small), h.options.Caps.class(c.uid, name))
	c.program = h.core.Add(name, c.class, c.stages)
	c.program.Data = c
	c.quota = now - burst
	h.send(c, frame{kind: registered, small: uint8(c.class)})
	h.options.Log("%s (uid %d) registered with class %d of %d", name, c.uid, c.class, f.small)
	return true
}

// printable reports whether a name can be printed on a terminal.
func printable(name []byte) bool {
	for b := name; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
		b = b[n:]
	}
	return len(name) > 0
}
