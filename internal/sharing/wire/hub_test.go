package wire

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

func policies() []sharing.Policy {
	return []sharing.Policy{
		sharing.NewFill(sharing.Fill{}), sharing.NewFill(sharing.Fill{Greedy: true}), sharing.Exclusive{}, &sharing.Streams{Depth: 4},
		&sharing.Slices{Slice: ms, Switch: 50 * us}, &sharing.Fikit{SmallGap: 20 * us, Hold: 10 * ms},
		&sharing.Orion{Most: 160 * us}, &sharing.Tally{Idle: 100 * us, Most: 100 * us},
	}
}

// bench is a hub whose clients are functions of a test.
type bench struct {
	*hub
	t    testing.TB
	now  time.Duration
	lost int // clients that lost a grant
}

func newBench(t testing.TB, o Options) *bench {
	return &bench{hub: newHub(o.withDefaults()), t: t}
}

// join adds a client of this user.
func (b *bench) join() *client { return b.hub.join(0, b.now) }

// send hands frames to the hub, and returns what the client gets.
func (b *bench) send(c *client, frames ...frame) []frame {
	var all []byte
	for _, f := range frames {
		all = f.append(all)
	}
	b.bytes(c, all, b.now)
	return b.advance(c)
}

// advance lets the hub grant, and returns what a client gets.
func (b *bench) advance(c *client) (got []frame) {
	b.hub.advance(b.now)
	return b.got(c)
}

func (b *bench) got(c *client) (got []frame) {
	for ; len(c.out) > 0; c.out = c.out[frameSize:] {
		var f frame
		f.read(c.out)
		got = append(got, f)
	}
	return got
}

// program registers a client with stages of units.
func (b *bench) program(class int, stages ...[]time.Duration) *client {
	c := b.join()
	var list []sharing.Stage
	for _, times := range stages {
		var s sharing.Stage
		for _, d := range times {
			s.Units = append(s.Units, sharing.Unit{Time: d})
		}
		list = append(list, s)
	}
	b.send(c, frame{kind: hello, small: version, long: magic})
	b.bytes(c, description("p", class, list), b.now)
	got := b.advance(c)
	require.Len(b.t, got, 1)
	require.Equal(b.t, registered, got[0].kind)
	return c
}

// one is a program of one stage with one unit.
func one(d time.Duration) []sharing.Stage { return []sharing.Stage{{Units: []sharing.Unit{{Time: d}}}} }

func grantOf(stage, first, units, number int) frame {
	return grantFrame(sharing.Grant{Stage: stage, First: first, Units: units}, uint32(number))
}

func failure(code Code, limit int) frame {
	return frame{kind: failed, small: uint8(code), long: uint64(limit)}
}

// TestStagesRunInOrder follows a program through two stages, one of them empty, and a second program that waits for it.
func TestStagesRunInOrder(t *testing.T) {
	b := newBench(t, Options{Policy: sharing.Exclusive{}})
	p, q := b.program(5, []time.Duration{us, us}, nil), b.program(9, []time.Duration{us})
	assert.Equal(t, []frame{grantOf(0, 0, 2, 1)}, b.send(p, frame{kind: arrive}, frame{kind: arrive, short: 1}))
	assert.Empty(t, b.send(q, frame{kind: arrive}))
	assert.Equal(t, []frame{{kind: ended}, {kind: ended, short: 1}}, b.send(p, frame{kind: completed, word: 1}))
	assert.Equal(t, []frame{grantOf(0, 0, 1, 1)}, b.got(q))
	assert.Equal(t, []frame{{kind: ended}}, b.send(q, frame{kind: completed, word: 1}))
	assert.Zero(t, b.core.Flying())
}

// TestCancel cancels with and without units in flight, and twice.
func TestCancel(t *testing.T) {
	b := newBench(t, Options{Policy: &sharing.Streams{Depth: 1}})
	p := b.program(0, []time.Duration{us, us})
	assert.Equal(t, []frame{{kind: canceled}}, b.send(p, frame{kind: cancel}))
	assert.Equal(t, []frame{grantOf(0, 0, 1, 1)}, b.send(p, frame{kind: arrive}, frame{kind: arrive}))
	assert.Empty(t, b.send(p, frame{kind: cancel}, frame{kind: arrive}, frame{kind: cancel}))
	assert.Equal(t, []frame{{kind: canceled}, {kind: canceled}}, b.send(p, frame{kind: completed, word: 1}))
	assert.Equal(t, []frame{grantOf(0, 0, 1, 2)}, b.send(p, frame{kind: arrive}), "the next stage begins at its first unit")
	assert.Equal(t, 1, p.waiting)
}

// TestALateClientLosesItsGrant checks that a grant expires after its predicted time by the factor and a lease, and that the
// next program then runs.
func TestALateClientLosesItsGrant(t *testing.T) {
	b := newBench(t, Options{Policy: sharing.Exclusive{}, Lease: 10 * ms, Factor: 3})
	p, q := b.program(5, []time.Duration{ms}), b.program(5, []time.Duration{ms})
	b.send(p, frame{kind: arrive})
	b.send(q, frame{kind: arrive})
	b.now = 13*ms - 1
	wake := b.hub.advance(b.now)
	assert.Equal(t, 13*ms, wake)
	assert.Empty(t, b.got(p))
	b.now = wake
	assert.Equal(t, []frame{failure(Lost, 0)}, b.advance(p))
	assert.Equal(t, []frame{grantOf(0, 0, 1, 1)}, b.got(q))
	assert.Equal(t, over, p.phase)
	assert.Empty(t, b.send(p, frame{kind: completed, word: 1}), "what comes late does not count")
	assert.Equal(t, 1, b.core.Flying())
}

// TestAnUnreadCompletionIsReadFirst checks that a client does not lose its grant while its socket may hold the completion:
// the server itself may have been stopped.
func TestAnUnreadCompletionIsReadFirst(t *testing.T) {
	b := newBench(t, Options{Policy: sharing.Exclusive{}, Lease: 10 * ms})
	p := b.program(5, []time.Duration{ms})
	b.send(p, frame{kind: arrive})
	b.now, p.conn.unread = time.Hour, true
	assert.Empty(t, b.advance(p))
	assert.Equal(t, []frame{{kind: ended}}, b.send(p, frame{kind: completed, word: 1}))
}

// TestOthersTimeDoesNotCount keeps the device busy with a program of a greater class: the piece of the other
// expires later by the time of those grants, whether they have ended or run. Two late clients do not protect each other.
func TestOthersTimeDoesNotCount(t *testing.T) {
	b := newBench(t, Options{Policy: sharing.NewFill(sharing.Fill{}), Lease: 10 * ms, Factor: 1})
	low := b.program(0, []time.Duration{us})
	high := b.program(9, []time.Duration{20 * ms})
	assert.Len(t, b.send(low, frame{kind: arrive}), 1)
	assert.Len(t, b.send(high, frame{kind: arrive}), 1)
	b.now = 15 * ms
	assert.Empty(t, b.advance(low), "the other runs")
	b.now = 20 * ms
	assert.Len(t, b.send(high, frame{kind: completed, word: 1}), 1)
	b.now = 30*ms + us - 1
	assert.Empty(t, b.advance(low))
	assert.Len(t, b.send(high, frame{kind: arrive}), 1)
	b.now = 50 * ms
	assert.Empty(t, b.advance(low))
	b.now = 50*ms + us
	assert.Equal(t, []frame{failure(Lost, 0)}, b.advance(low))
	b.now = 60*ms + us
	assert.Equal(t, []frame{failure(Lost, 0)}, b.advance(high))
	assert.Zero(t, b.core.Flying())
}

// TestADeadClientKeepsItsGrantForALease checks that its kernels may still run, but nothing more is granted to it.
func TestADeadClientKeepsItsGrantForALease(t *testing.T) {
	policy := &sharing.Streams{Depth: 1}
	b := newBench(t, Options{Policy: policy, Lease: 10 * ms})
	p := b.program(5, []time.Duration{ms, ms})
	b.send(p, frame{kind: arrive}, frame{kind: arrive})
	b.leave(p, b.now)
	policy.Depth = 2
	assert.Equal(t, 10*ms, b.hub.advance(b.now))
	assert.Equal(t, 1, b.core.Flying(), "nothing more is granted")
	b.now = 10 * ms
	assert.Equal(t, sharing.Never, b.hub.advance(b.now))
	assert.Zero(t, b.core.Flying())
	assert.Empty(t, b.clients)
	idle := b.program(5, []time.Duration{ms})
	b.leave(idle, b.now)
	assert.Empty(t, b.clients)
}

// TestHostileMessages sends what the protocol forbids. Each ends its client with an error, and no other.
func TestHostileMessages(t *testing.T) {
	hi := frame{kind: hello, small: version, long: magic}
	name := func(s string) frame {
		var f frame
		f.read(appendText(nil, s))
		return f
	}
	open := []frame{hi, name("x")}
	whole := append(open[:2:2], frame{kind: stage, word: 1}, frame{kind: unit, long: 1000}, frame{kind: register, word: 1})
	with := func(frames []frame, more ...frame) []frame { return append(frames[:len(frames):len(frames)], more...) }
	many := func(n int, f frame) (all []frame) {
		for range n {
			all = append(all, f)
		}
		return all
	}
	o := Options{Limits: Limits{Stages: 2, Units: 3, Time: ms, Waiting: 4, Rate: 1000}}
	for what, c := range map[string]struct {
		frames []frame
		code   Code
		limit  int
	}{
		"zeros":                        {[]frame{{}}, Malformed, 0},
		"no hello":                     {[]frame{{kind: arrive}}, Malformed, 0},
		"wrong magic":                  {[]frame{{kind: hello, small: version}}, Malformed, 0},
		"later version":                {[]frame{{kind: hello, small: version + 1, long: magic}}, Version, version},
		"hello twice":                  {[]frame{hi, hi}, Malformed, 0},
		"no name":                      {[]frame{hi, {kind: stage, word: 0}, {kind: register, word: 1}}, Malformed, 0},
		"long name":                    {with(open, many(5, name("12345678901234"))...), Malformed, 0},
		"text of no length":            {[]frame{hi, {kind: text}}, Malformed, 0},
		"text longer than a frame":     {[]frame{hi, {kind: text, small: 255}}, Malformed, 0},
		"name for a terminal":          {[]frame{hi, name("\x1b[2J"), {kind: stage}, {kind: register, word: 1}}, Malformed, 0},
		"name not UTF-8":               {[]frame{hi, name("a\xff"), {kind: stage}, {kind: register, word: 1}}, Malformed, 0},
		"no stages":                    {with(open, frame{kind: register}), Malformed, 0},
		"wrong number of stages":       {with(open, frame{kind: stage}, frame{kind: register, word: 2}), Malformed, 0},
		"too many stages":              {with(open, many(3, frame{kind: stage})...), Stages, 2},
		"too many units":               {with(open, frame{kind: stage, word: math.MaxUint32}), Units, 3},
		"too many units in all":        {with(open, frame{kind: stage, word: 1}, frame{kind: unit}, frame{kind: stage, word: 3}), Units, 3},
		"unit too many":                {with(open, frame{kind: stage, word: 1}, frame{kind: unit}, frame{kind: unit}), Malformed, 0},
		"unit too few":                 {with(open, frame{kind: stage, word: 2}, frame{kind: unit}, frame{kind: register, word: 1}), Malformed, 0},
		"unit before a stage":          {with(open, frame{kind: unit}), Malformed, 0},
		"negative time":                {with(open, frame{kind: stage, word: 1}, frame{kind: unit, long: 1 << 63}), Malformed, 0},
		"NaN for a time":               {with(open, frame{kind: stage, word: 1}, frame{kind: unit, long: math.Float64bits(-math.NaN())}), Malformed, 0},
		"long time":                    {with(open, frame{kind: stage, word: 1}, frame{kind: unit, long: math.MaxInt64}), Times, int(ms)},
		"long time in all":             {with(open, frame{kind: stage, word: 2}, frame{kind: unit, long: uint64(ms)}, frame{kind: unit, long: 1}), Times, int(ms)},
		"negative time alone":          {with(open, frame{kind: stage, long: math.MaxUint64}), Malformed, 0},
		"long time alone":              {with(open, frame{kind: stage, long: math.MaxInt64}), Times, int(ms)},
		"multiprocessors":              {with(open, frame{kind: stage, word: 1}, frame{kind: unit, word: math.MaxUint32}), Malformed, 0},
		"bound":                        {with(open, frame{kind: stage, word: 1}, frame{kind: unit, small: 3}), Malformed, 0},
		"class":                        {with(open, frame{kind: stage}, frame{kind: register, small: 10, word: 1}), Malformed, 0},
		"arrival before registration":  {with(open, frame{kind: arrive}), Malformed, 0},
		"registered twice":             {with(whole, frame{kind: register, word: 1}), Malformed, 0},
		"stage out of range":           {with(whole, frame{kind: arrive, short: 1}), Malformed, 0},
		"completed without a grant":    {with(whole, frame{kind: completed, word: 1}), Malformed, 0},
		"completed twice":              {with(whole, frame{kind: arrive}, frame{kind: completed, word: 1}, frame{kind: completed, word: 1}), Malformed, 0},
		"completed another":            {with(whole, frame{kind: arrive}, frame{kind: completed, word: 2}), Malformed, 0},
		"too many stages wait":         {with(whole, many(5, frame{kind: arrive})...), Waiting, 4},
		"flood":                        {with(whole, many(101, frame{kind: cancel})...), Rate, 1000},
		"a message of the server":      {with(whole, frame{kind: granted}), Malformed, 0},
		"unknown kind":                 {with(whole, frame{kind: 255}), Malformed, 0},
		"unknown kind when describing": {with(open, frame{kind: 255}), Malformed, 0},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, o)
			b.now = time.Second
			other := b.program(0, []time.Duration{us})
			hostile := b.join()
			var last frame
			for _, f := range c.frames {
				for _, last = range b.send(hostile, f) {
				}
			}
			assert.Equal(t, failure(c.code, c.limit), last)
			assert.Equal(t, over, hostile.phase)
			assert.Empty(t, b.send(hostile, hi), "nothing follows")
			b.now += time.Minute
			b.hub.advance(b.now)
			assert.Zero(t, b.core.Flying())
			assert.Len(t, b.send(other, frame{kind: arrive}), 1, "others go on")
			assert.Len(t, b.clients, 1)
		})
	}
}

// TestTooManyClients refuses clients beyond the limit, and those that do not register.
func TestTooManyClients(t *testing.T) {
	b := newBench(t, Options{Limits: Limits{Clients: 2, Silence: ms}})
	p := b.program(9, []time.Duration{us})
	silent := b.join()
	refused := b.join()
	assert.Equal(t, []frame{failure(Clients, 2)}, b.got(refused))
	b.now = ms
	assert.Equal(t, []frame{failure(Silent, 0)}, b.advance(silent))
	assert.NotEqual(t, over, b.join().phase, "there is room again")
	assert.Equal(t, running, p.phase)
}

// TestRateRecovers lets a client send at its rate for long, after a burst.
func TestRateRecovers(t *testing.T) {
	c := &client{quota: -burst}
	for i := range 10_000 {
		require.True(t, c.take(time.Duration(i)*ms, 1000))
	}
	n := 0
	for c.take(20*time.Second, 1000) {
		n++
	}
	assert.Equal(t, 100, n, "a burst of 100 ms")
}

// TestClassesAreCapped registers clients below and above their caps.
func TestClassesAreCapped(t *testing.T) {
	caps, err := ReadCaps("caps", "3 name=p")
	require.NoError(t, err)
	b := newBench(t, Options{Caps: caps})
	assert.Equal(t, 3, b.program(9, nil).class)
	assert.Equal(t, 2, b.program(2, nil).class)
}

// FuzzHub sends random frames of several clients in random order, in random time, and ends connections. Nothing panics, and
// the core has exactly the grants of its clients.
func FuzzHub(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(randomSteps(seed, 20))
	}
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) == 0 {
			return
		}
		all := policies()
		runSteps(newBench(t, Options{Policy: all[int(steps[0])%len(all)], Lease: ms, Limits: Limits{Clients: 3, Waiting: 3, Units: 20}, Log: func(string, ...any) {}}), steps[1:])
	})
}

// stepSize is the length of a step: what to do, its client, and the fields of a frame, a byte each. Steps and seeds are short
// because the fuzzer minimizes each input that reaches new code, in a time that grows with the square of its length. Seeds
// of 5 kB kept it busy with that alone.
const stepSize = 7

// randomSteps returns a number of steps of clients that mostly keep the protocol: random bytes alone do not come far.
func randomSteps(seed uint64, count int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	steps := []byte{byte(seed)}
	for range count {
		steps = append(steps, byte(r.IntN(16)), byte(r.IntN(4)), byte(r.IntN(int(failed)+2)), byte(r.IntN(12)), byte(r.IntN(3)), byte(r.IntN(4)), byte(r.IntN(256)))
	}
	return steps
}

// field returns the value of a field. The greatest bytes stand for powers of two.
func field(b byte) uint64 {
	if b < 0xc0 {
		return uint64(b)
	}
	return 1 << (b - 0xc0)
}

// stepFrame returns the frame of a step.
func stepFrame(b []byte) frame {
	return frame{kind: kind(b[0]), small: b[1], short: uint16(field(b[2])), word: uint32(field(b[3])), long: field(b[4]) * 1000}
}

func runSteps(b *bench, steps []byte) {
	clients := make([]*client, 4)
	for ; len(steps) >= stepSize; steps = steps[stepSize:] {
		what, i := steps[0]%16, steps[1]%4
		f := stepFrame(steps[2:])
		c := clients[i]
		switch {
		case c == nil || c.phase == over:
			clients[i] = b.join()
		case what == 0:
			b.leave(c, b.now)
		case what == 1:
			b.now += time.Duration(f.long * 16 % uint64(4*ms))
		case what < 15 && c.phase != running:
			b.bytes(c, frame{kind: hello, small: version, long: magic}.append(nil), b.now)
			b.bytes(c, description("p", int(f.small%10), []sharing.Stage{one(us)[0], {}, {Units: make([]sharing.Unit, f.long%5)}}), b.now)
		case what < 7 && c.waiting < 3:
			b.bytes(c, frame{kind: arrive, short: f.short % 3}.append(nil), b.now)
		case what < 14 && len(c.flight) > 0:
			b.bytes(c, frame{kind: completed, word: c.done + 1}.append(nil), b.now)
		case what == 15:
			b.bytes(c, f.append(nil), b.now)
		}
		b.hub.advance(b.now)
		checkFlying(b)
		for _, c := range b.dirty {
			c.dirty, c.out = false, c.out[:0]
			if c.err != nil && c.err.Code == Lost {
				b.lost++
			}
		}
		b.dirty = b.dirty[:0]
	}
	for _, c := range clients {
		if c != nil {
			b.leave(c, b.now)
		}
	}
	b.now += time.Hour
	b.hub.advance(b.now)
	require.Empty(b.t, b.clients)
	require.Zero(b.t, b.core.Flying())
}

// checkFlying compares the grants of the core with those of the clients, and with the frames that they got.
func checkFlying(b *bench) {
	flying := 0
	for _, c := range b.clients {
		flying += len(c.flight)
		if len(c.flight) != int(c.sent-c.done) {
			b.t.Fatalf("%d grants in flight, %d sent and %d completed", len(c.flight), c.sent, c.done)
		}
		if c.program == nil || c.phase != running {
			continue
		}
		if _, waits := c.program.Present(); waits != (c.waiting > 0) {
			b.t.Fatalf("%d stages wait: %v in the core", c.waiting, waits)
		}
	}
	if flying != b.core.Flying() {
		b.t.Fatalf("%d grants in flight, %d in the core", flying, b.core.Flying())
	}
}

// TestRandomMessages is FuzzHub with more steps. It counts what it reached.
func TestRandomMessages(t *testing.T) {
	var grants, lost int
	for seed := range uint64(400) {
		b := newBench(t, Options{Lease: ms, Limits: Limits{Clients: 3, Waiting: 3, Units: 20}, Log: func(string, ...any) {}})
		all := policies()
		b.core = sharing.New(&counted{all[seed%uint64(len(all))], &grants})
		runSteps(b, randomSteps(seed, 300)[1:])
		lost += b.lost
	}
	assert.Greater(t, grants, 3000)
	assert.Greater(t, lost, 100)
}

// counted is a policy whose grants are counted.
type counted struct {
	sharing.Policy
	grants *int
}

func (c *counted) Next(core *sharing.Core, now time.Duration) (sharing.Grant, time.Duration) {
	g, wake := c.Policy.Next(core, now)
	if g.Units > 0 {
		*c.grants++
	}
	return g, wake
}

// FuzzFrame decodes and encodes any frame, and any text.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), "detector")
	f.Fuzz(func(t *testing.T, b []byte, s string) {
		if len(b) >= frameSize {
			var f frame
			f.read(b)
			require.Equal(t, b[:frameSize], f.append(nil))
			require.LessOrEqual(t, len(f.text(nil)), textSize)
		}
		var back []byte
		for text := appendText(nil, s); len(text) > 0; text = text[frameSize:] {
			var f frame
			f.read(text)
			back = f.text(back)
		}
		require.Equal(t, s, string(back))
	})
}

// FuzzReadCaps reads any text.
func FuzzReadCaps(f *testing.F) {
	f.Add("9 uid=1000 name=detector*\n4 uid=1000 # comment\n\n0")
	f.Add("4 name=[")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadCaps("caps", text)
		if err == nil {
			class := c.class(1, "x")
			require.True(t, class >= 0 && class < sharing.Classes)
		}
	})
}

func TestReadCaps(t *testing.T) {
	c, err := ReadCaps("caps", "9 uid=1000 name=detector*\n4 uid=1000 # others\n\n# all\n2 name=job-[0-9]\n0")
	require.NoError(t, err)
	assert.Equal(t, 9, c.class(1000, "detector-1"))
	assert.Equal(t, 4, c.class(1000, "job-1"))
	assert.Equal(t, 2, c.class(7, "job-1"))
	assert.Equal(t, 0, c.class(7, "detector-1"))
	for text, want := range map[string]string{
		"\n10":              `caps:2: "10" is not a class from 0 to 9: begin the line with the class, as in 4 uid=1000`,
		"uid=1":             `caps:1: "uid=1" is not a class from 0 to 9: begin the line with the class, as in 4 uid=1000`,
		"1 uid=-1":          `caps:1: "-1" is not the number of a user: write it as in uid=1000`,
		"1 name=[":          `caps:1: "[" is not a pattern: write it as in name=detector*`,
		"1 name=":           `caps:1: "" is not a pattern: write it as in name=detector*`,
		"1 gid=5":           `caps:1: "gid=5" is not a condition: use uid=NUMBER or name=PATTERN`,
		"1 uid=99999999999": `caps:1: "99999999999" is not the number of a user: write it as in uid=1000`,
	} {
		_, err := ReadCaps("caps", text)
		assert.EqualError(t, err, want)
	}
	assert.Equal(t, 4, Caps{}.class(1<<30, "x"), "another user")
}

// TestErrors checks that every code has a text, and is found.
func TestErrors(t *testing.T) {
	for code := Lost; code < codes; code++ {
		err := &Error{code, 7}
		assert.NotContains(t, err.Error(), "%!")
		assert.NotContains(t, err.Error(), "code")
		assert.True(t, errors.Is(err, code))
	}
	assert.Equal(t, "sharing: the server has its limit of 7 clients: try later, or raise the limit", (&Error{Clients, 7}).Error())
	assert.Equal(t, "sharing: connection ended with code 99", (&Error{Code: 99}).Error())
}
