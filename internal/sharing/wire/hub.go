package wire

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// hub is the server without sockets and without a clock. It turns frames of clients into calls of the core, and
// grants of the core into frames.
type hub struct {
	core    *sharing.Core
	options Options
	clients []*client // connected, or with grants in flight
	dirty   []*client // with bytes to send, or ended
	check   time.Duration
	used    time.Duration // sum of the times of completed grants, each at most as predicted
}

// phase is what a client may send.
type phase uint8

const (
	greeting phase = iota
	describing
	running
	over // nothing counts any more
)

// client is a connection and its program.
type client struct {
	phase  phase
	uid    int
	class  int // -1 before the registration
	joined time.Duration

	name    []byte
	stages  []sharing.Stage
	missing int           // units of the last stage that have not come
	time    time.Duration // of those that have
	units   int           // of all stages

	program  *sharing.Program
	flight   []time.Duration // predicted times of the grants in flight, in order
	sent     uint32          // number of the last grant
	done     uint32          // number of the last completed grant
	since    time.Duration   // when the oldest grant in flight began
	usedThen time.Duration   // hub.used at that moment
	left     time.Duration   // when the connection ended
	waiting  int             // stages that have not ended
	cancels  int             // requests to cancel that are not answered
	quota    time.Duration   // see take

	out   []byte
	dirty bool
	err   *Error // why the server ended the connection
	conn  conn
}

// conn is the socket of a client.
type conn struct {
	fd     int
	in     [frameSize]byte // the beginning of a frame
	n      int             // its bytes
	unread bool            // the socket may hold frames
}

func newHub(o Options) *hub {
	return &hub{core: sharing.New(o.Policy), options: o, check: sharing.Never}
}

// join adds a client. If there are too many, the client has ended.
func (h *hub) join(uid int, now time.Duration) *client {
	c := &client{uid: uid, class: -1, joined: now}
	if len(h.clients) >= h.options.Limits.Clients {
		c.phase = over
		h.send(c, frame{kind: failed, small: uint8(Clients), long: uint64(h.options.Limits.Clients)})
		c.err = &Error{Clients, int64(h.options.Limits.Clients)}
		return c
	}
	h.clients = append(h.clients, c)
	h.check = min(h.check, now+h.options.Limits.Silence)
	return c
}

// send adds a frame to those that the server sends to a client.
func (h *hub) send(c *client, f frame) {
	c.out = f.append(c.out)
	h.mark(c)
}

func (h *hub) mark(c *client) {
	if !c.dirty {
		c.dirty = true
		h.dirty = append(h.dirty, c)
	}
}

// receive handles a frame of a client.
func (h *hub) receive(c *client, f *frame, now time.Duration) {
	ok := false
	switch c.phase {
	case greeting:
		ok = h.greet(c, f, now)
	case describing:
		ok = h.describe(c, f, now)
	case running:
		ok = h.run(c, f, now)
	case over:
		return
	}
	if !ok && c.phase != over {
		h.end(c, now, Malformed, 0)
	}
}

// greet handles the first frame. Later versions of the protocol keep its layout.
func (h *hub) greet(c *client, f *frame, now time.Duration) bool {
	if f.kind != hello || f.long != magic {
		return false
	}
	if f.small != version {
		h.end(c, now, Version, version)
		return true
	}
	c.phase = describing
	c.out = appendText(c.out, h.core.Policy().Name())
	h.send(c, welcomeFrame(h.core.Policy().Form()))
	return true
}

// run handles the frames of a registered client.
func (h *hub) run(c *client, f *frame, now time.Duration) bool {
	if !c.take(now, h.options.Limits.Rate) {
		h.end(c, now, Rate, h.options.Limits.Rate)
		return true
	}
	switch f.kind {
	case arrive:
		return h.arrive(c, int(f.short), now)
	case completed:
		return h.completed(c, f.word, now)
	case cancel:
		h.cancel(c, now)
		return true
	}
	return false
}

// burst is the time for which a client may send more messages than its rate.
const burst = 100 * time.Millisecond

// take counts a message against the rate of a client. The quota is the time at which the messages so far would have
// been sent at that rate, at least burst ago.
func (c *client) take(now time.Duration, rate int) bool {
	c.quota = max(c.quota, now-burst) + time.Second/time.Duration(rate)
	return c.quota <= now
}

func (h *hub) arrive(c *client, stage int, now time.Duration) bool {
	if stage >= len(c.stages) {
		return false
	}
	if c.waiting >= h.options.Limits.Waiting {
		h.end(c, now, Waiting, h.options.Limits.Waiting)
		return true
	}
	c.waiting++
	h.core.Arrive(c.program, stage, now)
	h.endEmpty(c, now)
	return true
}

// endEmpty ends the stages without units that are next.
func (h *hub) endEmpty(c *client, now time.Duration) {
	for {
		stage, ok := c.program.Present()
		if !ok || !h.core.Empty(c.program, now) {
			return
		}
		c.waiting--
		h.send(c, frame{kind: ended, short: uint16(stage)})
	}
}

// completed handles the end of the oldest grant of a client.
func (h *hub) completed(c *client, number uint32, now time.Duration) bool {
	if len(c.flight) == 0 || number != c.done+1 {
		return false
	}
	c.done = number
	h.used += min(c.flight[0], now-c.since)
	c.flight = c.flight[:copy(c.flight, c.flight[1:])]
	if len(c.flight) > 0 {
		h.begin(c, now)
	}
	stage, _ := c.program.Present()
	if h.core.Completed(c.program, now) {
		c.waiting--
		h.conclude(c, stage)
		h.endEmpty(c, now)
	}
	return true
}

// conclude reports the end of a stage, or of a cancelled one.
func (h *hub) conclude(c *client, stage int) {
	if c.cancels == 0 {
		h.send(c, frame{kind: ended, short: uint16(stage)})
	}
	for ; c.cancels > 0; c.cancels-- {
		h.send(c, frame{kind: canceled})
	}
}

func (h *hub) cancel(c *client, now time.Duration) {
	if h.core.Cancel(c.program, now) {
		c.waiting = 0
		h.send(c, frame{kind: canceled})
		return
	}
	c.waiting = 1
	c.cancels++
}

// advance grants all units that the policy grants now, and takes the grants of clients that are late. It returns the
// time at which to call it again although no frame has come.
func (h *hub) advance(now time.Duration) (wake time.Duration) {
	h.expire(now)
	for {
		g, wake := h.core.Next(now)
		if g.Units == 0 {
			return min(wake, h.check)
		}
		h.grant(g.Program.Data.(*client), g, now)
	}
}

func (h *hub) grant(c *client, g sharing.Grant, now time.Duration) {
	c.flight = append(c.flight, g.Time)
	if len(c.flight) == 1 {
		h.begin(c, now)
	}
	c.sent++
	h.send(c, grantFrame(g, c.sent))
}

// end ends the connection of a client with an error.
func (h *hub) end(c *client, now time.Duration, code Code, limit int) {
	c.err = &Error{code, int64(limit)}
	h.send(c, frame{kind: failed, small: uint8(code), long: uint64(limit)})
	h.leave(c, now)
}

// leave handles the end of a connection. Grants in flight stay for a lease: kernels may still run.
func (h *hub) leave(c *client, now time.Duration) {
	if c.phase == over {
		return
	}
	c.phase, c.left = over, now
	h.mark(c)
	if len(c.flight) == 0 {
		h.remove(c)
		return
	}
	h.core.Cancel(c.program, now)
	h.check = min(h.check, now+h.options.Lease)
}

// remove removes a client and its program.
func (h *hub) remove(c *client) {
	if c.program != nil {
		h.core.Remove(c.program)
		c.program, c.flight = nil, nil
	}
	h.clients = slices.DeleteFunc(h.clients, func(d *client) bool { return c == d })
}

// bytes handles what has come from a client: frames, the last of which may be incomplete.
func (h *hub) bytes(c *client, b []byte, now time.Duration) {
	var f frame
	for len(b) > 0 {
		n := copy(c.conn.in[c.conn.n:], b)
		b = b[n:]
		if c.conn.n += n; c.conn.n < frameSize {
			return
		}
		c.conn.n = 0
		f.read(c.conn.in[:])
		h.receive(c, &f, now)
	}
}
