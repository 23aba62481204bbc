package mpi

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

var errCanceled, errDeadline = context.Canceled, context.DeadlineExceeded

// link is a connection of the control.
type link struct {
	conn    net.Conn
	reader  *bufio.Reader
	decoder *gob.Decoder

	mu      sync.Mutex
	encoder *gob.Encoder
}

func newLink(conn net.Conn) *link {
	reader := bufio.NewReader(conn)
	return &link{conn: conn, reader: reader, encoder: gob.NewEncoder(conn), decoder: gob.NewDecoder(reader)}
}

// send sends a note. It waits for a second at most, which happens if the other rank has not read for long. Its errors are
// those of the connection, which the reader finds too.
func (l *link) send(n note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = l.encoder.Encode(n)
}

// receive returns the next note. A rank is silent if nothing arrives within the lease. The last quarter of the lease is
// a second try: after all processes were stopped for long and go on, the first deadline has passed before a note can
// arrive.
func (l *link) receive(lease time.Duration) (note, error) {
	err := l.await(lease - lease/4)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = l.await(lease / 4)
	}
	var n note
	if err == nil {
		_ = l.conn.SetReadDeadline(time.Now().Add(lease))
		err = l.decoder.Decode(&n)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("it gave no sign of life for %v", lease)
	case errors.Is(err, io.EOF):
		return n, errors.New("its process ended")
	case err != nil:
		return n, fmt.Errorf("its process ended, or the connection to it broke: %w", err)
	}
	return n, nil
}

// await returns nil when the next note begins to arrive.
func (l *link) await(limit time.Duration) error {
	_ = l.conn.SetReadDeadline(time.Now().Add(limit))
	_, err := l.reader.Peek(1)
	return err
}
