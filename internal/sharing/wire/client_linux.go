package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Client is a program at a server. One goroutine calls Receive; the other methods may be called from any.
type Client struct {
	path   string
	file   *os.File
	policy string
	form   sharing.Form
	closed atomic.Bool

	reading sync.Mutex // guards what follows
	in      [64 * frameSize]byte
	next    []byte // of in, not handled
	failed  error  // why the connection ended

	writing   sync.Mutex // guards what follows
	out       [frameSize]byte
	completed uint32

	granted atomic.Uint32
}

// answerWithin is how long a server may take to answer a new client.
const answerWithin = 10 * time.Second

// Dial connects to the server at a socket. Register is next.
func Dial(path string) (*Client, error) {
	at, err := address(path)
	if err != nil {
		return nil, err
	}
	fd, err := connectPatiently(at)
	if err != nil {
		return nil, dialError(path, err)
	}
	c := &Client{path: path, file: os.NewFile(uintptr(fd), path)}
	if err := c.greet(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connectPatiently connects. It waits while others are before it.
func connectPatiently(at *unix.SockaddrUnix) (fd int, err error) {
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if fd, err = connect(at); err != unix.EAGAIN || time.Since(start) > answerWithin {
			break
		}
	}
	if err != nil {
		return -1, err
	}
	limit := unix.NsecToTimeval(int64(answerWithin))
	err = errors.Join(unix.SetNonblock(fd, false),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit))
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func dialError(path string, err error) error {
	switch err {
	case unix.ENOENT, unix.ECONNREFUSED:
		return fmt.Errorf("no server listens at %s: start one with `reprise share serve --socket %[1]s`: %w", path, err)
	case unix.EAGAIN:
		return fmt.Errorf("the server at %s does not accept connections: restart it: %w", path, err)
	}
	return fmt.Errorf("cannot connect to the server at %s: %w", path, err)
}

// greet exchanges the first messages.
func (c *Client) greet() error {
	if err := c.write(frame{kind: hello, small: version, long: magic}); err != nil {
		return err
	}
	var name []byte
	for {
		f, err := c.read()
		switch {
		case err != nil:
			return err
		case f.kind == text && len(name) < maxName:
			name = f.text(name)
		case f.kind == welcome && f.word == version:
			c.policy, c.form = string(name), f.form()
			return nil
		default:
			return c.unexpected(f)
		}
	}
}

func (c *Client) unexpected(f frame) error {
	return fmt.Errorf("the server at %s sent a message of kind %d out of turn: use the same release on both sides", c.path, f.kind)
}

// Policy returns the name of the server's policy.
func (c *Client) Policy() string { return c.policy }

// Form returns how the server's policy cuts programs.
func (c *Client) Form() sharing.Form { return c.form }

// Register adds the program of this connection. It returns its class: the one given, or a smaller one that is the
// greatest which the server admits. A name has at most 64 bytes.
func (c *Client) Register(name string, class int, stages []sharing.Stage) (int, error) {
	switch {
	case name == "" || len(name) > maxName || !printable([]byte(name)):
		return 0, fmt.Errorf("the name %q of a program must have 1 to %d bytes, all printable", name, maxName)
	case class < 0 || class >= sharing.Classes:
		return 0, fmt.Errorf("program %s: class %d is not in 0..%d", name, class, sharing.Classes-1)
	case len(stages) == 0 || len(stages) > 1<<16:
		return 0, fmt.Errorf("program %s has %d stages: it must have 1 to %d", name, len(stages), 1<<16)
	}
	if err := c.send(description(name, class, stages)); err != nil {
		return 0, err
	}
	f, err := c.read()
	if err != nil {
		return 0, err
	}
	if f.kind != registered {
		return 0, c.unexpected(f)
	}
	// From here on, the server answers when the policy grants something.
	var none unix.Timeval
	if err := unix.SetsockoptTimeval(int(c.file.Fd()), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &none); err != nil {
		return 0, fmt.Errorf("cannot wait for the server at %s: %w", c.path, err)
	}
	return int(f.small), nil
}

// Arrive submits a stage. Ended follows when it has ended; stages of a program run one after another.
func (c *Client) Arrive(stage int) error {
	if stage < 0 || stage >= 1<<16 {
		return fmt.Errorf("stage %d is not in 0..%d", stage, 1<<16-1)
	}
	return c.write(frame{kind: arrive, short: uint16(stage)})
}

// Completed reports that the units of the oldest grant have ended.
func (c *Client) Completed() error {
	c.writing.Lock()
	number := c.completed + 1
	if number-c.granted.Load()-1 < 1<<31 {
		c.writing.Unlock()
		return errors.New("no grant is in flight: call Completed once for each grant")
	}
	c.completed = number
	err := c.put(frame{kind: completed, word: number})
	c.writing.Unlock()
	return c.reason(err)
}

// Cancel forgets the stages that wait, and the units of the present one that are not granted. Canceled follows when no
// unit is in flight. Grants may come before it, and have to be completed: their units need not run.
func (c *Client) Cancel() error { return c.write(frame{kind: cancel}) }

// Receive waits for the next event. Close ends it. After an error, the connection is of no more use: it is that of the
// server, whose code errors.Is finds, or an error of the connection.
func (c *Client) Receive() (Event, error) {
	f, err := c.read()
	if err != nil {
		return Event{}, err
	}
	switch f.kind {
	case granted:
		c.granted.Add(1)
		return Event{Granted, int(f.short), int(f.word), int(uint32(f.long))}, nil
	case ended:
		return Event{Kind: Ended, Stage: int(f.short)}, nil
	case canceled:
		return Event{Kind: Canceled}, nil
	}
	return Event{}, c.unexpected(f)
}

// Close ends the connection and the program.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	// A read that waits returns. The descriptor is closed when it has.
	_ = unix.Shutdown(int(c.file.Fd()), unix.SHUT_RDWR)
	return c.file.Close()
}

// write sends a frame.
func (c *Client) write(f frame) error {
	c.writing.Lock()
	err := c.put(f)
	c.writing.Unlock()
	return c.reason(err)
}

func (c *Client) put(f frame) error {
	f.append(c.out[:0])
	_, err := c.file.Write(c.out[:])
	return err
}

// send sends many frames.
func (c *Client) send(b []byte) error {
	c.writing.Lock()
	_, err := c.file.Write(b)
	c.writing.Unlock()
	return c.reason(err)
}

// reason returns why a write failed: the server may have ended the connection with an error.
func (c *Client) reason(err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET):
		err = c.broken(err)
		c.Close()
		return err
	}
	for {
		if _, err := c.read(); err != nil {
			return err
		}
	}
}

// read returns the next frame.
func (c *Client) read() (f frame, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.failed == nil {
		c.failed = c.fill()
	}
	if c.failed != nil {
		return f, c.failed
	}
	f.read(c.next)
	c.next = c.next[frameSize:]
	if f.kind == failed {
		c.failed = &Error{Code(f.small), int64(f.long)}
	}
	return f, c.failed
}

// fill reads until a frame is complete.
func (c *Client) fill() error {
	for len(c.next) < frameSize {
		n := copy(c.in[:], c.next)
		m, err := c.file.Read(c.in[n:])
		c.next = c.in[:n+m]
		if err != nil {
			return c.broken(err)
		}
	}
	return nil
}

// broken returns the error of a connection that ended without a reason from the server.
func (c *Client) broken(err error) error {
	switch {
	case c.closed.Load():
		return ErrClosed
	case errors.Is(err, unix.EAGAIN):
		return fmt.Errorf("the server at %s does not answer: restart it", c.path)
	case err == io.EOF || errors.Is(err, unix.ECONNRESET):
		return fmt.Errorf("the server at %s has died: %w", c.path, &Error{Code: Stopped})
	}
	return fmt.Errorf("the connection to the server at %s failed: %w", c.path, err)
}
