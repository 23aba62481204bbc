package wire

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Server is the scheduler that processes share.
type Server struct {
	hub     *hub
	options Options
	socket  *socket
	start   time.Time

	epoll, timer, event int // event wakes the loop for calls
	reserve             int // a descriptor to close when there are no more
	armed               time.Duration
	byFD                map[int32]*client
	events              []unix.EpollEvent
	ready               []*client
	turns               int
	buf                 [256 * frameSize]byte

	mu      sync.Mutex
	calls   []func() // to run in the loop
	ended   bool     // the loop takes no more
	stopped bool     // of the loop
	done    chan struct{}
	err     error // of the loop, when done
}

// Serve starts a server at a socket. Close it.
func Serve(path string, o Options) (_ *Server, err error) {
	o = o.withDefaults()
	s := &Server{
		hub: newHub(o), options: o, start: time.Now(), byFD: map[int32]*client{}, events: make([]unix.EpollEvent, o.Limits.Clients+3),
		epoll: -1, timer: -1, event: -1, reserve: -1, done: make(chan struct{}),
	}
	if s.socket, err = listen(path, o.Mode); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		s.release()
		return nil, fmt.Errorf("cannot wait for clients at %s: %w", path, err)
	}
	go s.serve()
	return s, nil
}

// open opens the descriptors of the loop.
func (s *Server) open() (err error) {
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if s.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return err
	}
	if s.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return err
	}
	if s.reserve, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	return errors.Join(s.watch(s.socket.fd), s.watch(s.timer), s.watch(s.event))
}

func (s *Server) watch(fd int) error {
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// release closes all descriptors and removes the socket's file.
func (s *Server) release() {
	for _, fd := range []int{s.epoll, s.timer, s.event, s.reserve} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	s.socket.close()
}

// serve serves clients until Close. It has a thread for itself.
func (s *Server) serve() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.err = s.loop()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.call()
	s.stop()
}

func (s *Server) loop() error {
	for !s.stopped {
		n, err := unix.EpollWait(s.epoll, s.events, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("cannot wait for clients: %w", err)
		}
		s.handle(s.events[:max(0, n)])
		for _, c := range s.turn() {
			c.conn.unread = false
			s.read(c)
			s.advance()
		}
		s.advance()
	}
	return nil
}

// handle notes which clients have sent something, and handles all other events.
func (s *Server) handle(events []unix.EpollEvent) {
	s.ready = s.ready[:0]
	for _, e := range events {
		switch int(e.Fd) {
		case s.socket.fd:
			s.accept()
		case s.timer:
			s.drain(s.timer)
			s.armed = 0
		case s.event:
			s.drain(s.event)
			s.call()
		default:
			if c := s.byFD[e.Fd]; c != nil {
				c.conn.unread = true
				s.ready = append(s.ready, c)
			}
		}
	}
}

// patience is the number of turns of the greatest classes, after which all clients have one.
const patience = 8

// turn returns the clients to read from: those of the greatest class. The others stay readable, and the next wait returns
// them again, so a client of a greater class that sends something meanwhile goes first.
func (s *Server) turn() []*client {
	slices.SortFunc(s.ready, func(a, b *client) int { return b.class - a.class })
	n := 0
	for n < len(s.ready) && s.ready[n].class == s.ready[0].class {
		n++
	}
	if s.turns++; s.turns%patience == 0 {
		n = len(s.ready)
	}
	return s.ready[:n]
}

// drain reads a counter, so that it is not readable any more.
func (s *Server) drain(fd int) {
	var b [8]byte
	_, _ = unix.Read(fd, b[:])
}

// now returns the time on the clock of the core.
func (s *Server) now() time.Duration { return time.Since(s.start) }

// advance grants what the policy grants, sends all frames, and sets the timer.
func (s *Server) advance() {
	now := s.now()
	wake := s.hub.advance(now)
	for len(s.hub.dirty) > 0 {
		s.flush(now)
	}
	s.arm(wake, now)
}

// flush sends the frames of all clients, greater classes first, and closes the connections that have ended.
func (s *Server) flush(now time.Duration) {
	dirty := s.hub.dirty
	s.hub.dirty = nil
	if len(dirty) > 1 {
		slices.SortStableFunc(dirty, func(a, b *client) int { return b.class - a.class })
	}
	for _, c := range dirty {
		c.dirty = false
		s.write(c, now)
		if c.phase == over {
			s.drop(c)
		}
	}
	if s.hub.dirty == nil {
		s.hub.dirty = dirty[:0]
	}
}

// write sends the frames of a client. The socket holds hundreds of them: a client that leaves it full does not read.
func (s *Server) write(c *client, now time.Duration) {
	if len(c.out) == 0 || c.conn.fd < 0 {
		return
	}
	err := unix.Send(c.conn.fd, c.out, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	c.out = c.out[:0]
	switch {
	case err == nil || c.phase == over:
	case err == unix.EAGAIN:
		s.hub.end(c, now, Slow, 0)
	default:
		s.hub.leave(c, now)
	}
}

// read reads from a client once, so that no client takes all the time.
func (s *Server) read(c *client) {
	if c.phase == over {
		return
	}
	n, err := unix.Read(c.conn.fd, s.buf[:])
	now := s.now()
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != nil || n == 0:
		s.hub.leave(c, now)
	default:
		s.hub.bytes(c, s.buf[:n], now)
	}
}

// drop closes a connection that has ended.
func (s *Server) drop(c *client) {
	if c.conn.fd < 0 {
		return
	}
	delete(s.byFD, int32(c.conn.fd))
	unix.Close(c.conn.fd)
	c.conn.fd = -1
	switch {
	case c.err != nil:
		s.options.Log("%s ended: %v", c.label(), c.err)
	case c.class < 0: // looked whether a server is here
	case c.program != nil:
		s.options.Log("%s ended with units in flight, which others wait for until its lease ends", c.label())
	default:
		s.options.Log("%s ended", c.label())
	}
}

func (c *client) label() string {
	if c.class < 0 {
		return fmt.Sprintf("a client (uid %d) that had not registered", c.uid)
	}
	return fmt.Sprintf("%s (uid %d)", c.name, c.uid)
}

// accept accepts all connections that wait.
func (s *Server) accept() {
	for {
		fd, _, err := unix.Accept4(s.socket.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			s.admit(fd)
		case unix.EINTR, unix.ECONNABORTED:
		case unix.EMFILE, unix.ENFILE:
			s.refuse()
		default:
			return
		}
	}
}

// refuse ends a connection for which the process has no descriptor. Otherwise the socket would stay readable.
func (s *Server) refuse() {
	unix.Close(s.reserve)
	if fd, _, err := unix.Accept4(s.socket.fd, unix.SOCK_CLOEXEC); err == nil {
		unix.Close(fd)
	}
	s.reserve, _ = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

func (s *Server) admit(fd int) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || s.watch(fd) != nil {
		unix.Close(fd)
		return
	}
	c := s.hub.join(int(cred.Uid), s.now())
	c.conn.fd = fd
	s.byFD[int32(fd)] = c
}

// arm sets the timer, unless it is set to an earlier time: waking too early does no harm, and costs less than to set the
// timer at each grant.
func (s *Server) arm(at, now time.Duration) {
	if at == sharing.Never || s.armed > now && s.armed <= at {
		return
	}
	s.armed = max(at, now+minSleep)
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(s.armed - now))}
	_ = unix.TimerfdSettime(s.timer, 0, &spec, nil) // fails for times out of range only
}

// minSleep is the shortest time for which the timer is set.
const minSleep = 2 * time.Microsecond

// do runs a function in the loop. It does nothing after the end of the loop.
func (s *Server) do(f func()) {
	done := make(chan struct{})
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.calls = append(s.calls, func() { f(); close(done) })
	_, err := unix.Write(s.event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	s.mu.Unlock()
	if err != nil {
		panic(fmt.Sprintf("BUG: cannot wake the server: %v", err))
	}
	<-done
}

// call runs the functions of do.
func (s *Server) call() {
	s.mu.Lock()
	calls := s.calls
	s.calls = nil
	s.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

// Close ends the server. Clients get the error Stopped. The socket's file is removed.
func (s *Server) Close() error {
	s.do(func() { s.stopped = true })
	return s.Wait()
}

// Wait waits for the end of the server. An error is one that ended it before Close.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// stop ends all connections and releases the descriptors.
func (s *Server) stop() {
	for _, c := range s.byFD {
		s.hub.end(c, s.now(), Stopped, 0)
	}
	s.flush(s.now())
	s.release()
}
