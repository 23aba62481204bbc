package wire

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// begin notes that the oldest grant of a client has begun.
func (h *hub) begin(c *client, now time.Duration) {
	c.since, c.usedThen = now, h.used
	h.check = min(h.check, now+h.allowed(c))
}

// allowed returns how long the oldest grant of a client may take, alone.
func (h *hub) allowed(c *client) time.Duration {
	return h.options.Lease + time.Duration(h.options.Factor*float64(c.flight[0]))
}

// expire removes the clients whose grants are late, and ends those that have not registered in time. It computes the time
// of the next check: until then no grant is late, because other grants only add to what is allowed.
func (h *hub) expire(now time.Duration) {
	if now < h.check {
		return
	}
	h.check = sharing.Never
	for _, c := range slices.Clone(h.clients) {
		due := h.due(c, now)
		if due > now {
			h.check = min(h.check, due)
			continue
		}
		h.lose(c, now)
	}
}

// lose ends a client whose time is over.
func (h *hub) lose(c *client, now time.Duration) {
	switch {
	case c.phase == over:
		h.remove(c)
	case c.program == nil:
		h.end(c, now, Silent, 0)
	default:
		h.core.Remove(c.program)
		c.program, c.flight = nil, nil
		h.end(c, now, Lost, 0)
	}
}

// due returns the time at which a client loses its connection or its grant.
func (h *hub) due(c *client, now time.Duration) time.Duration {
	switch {
	case c.phase != over && c.program == nil:
		return c.joined + h.options.Limits.Silence
	case len(c.flight) == 0:
		return sharing.Never
	}
	due := c.since + h.allowed(c) + h.usedByOthers(c, now)
	if c.phase == over {
		return min(due, c.left+h.options.Lease)
	}
	if due <= now && c.conn.unread {
		return now + time.Millisecond // its completion may be in the socket
	}
	return due
}

// usedByOthers returns how long grants of other clients ran since the oldest grant of a client began, each at most as
// predicted.
func (h *hub) usedByOthers(c *client, now time.Duration) time.Duration {
	used := h.used - c.usedThen
	for _, d := range h.clients {
		if d != c && len(d.flight) > 0 {
			used += min(d.flight[0], now-max(d.since, c.since))
		}
	}
	return used
}
