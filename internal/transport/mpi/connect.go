package mpi

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// invitation is what ranks need to connect to rank 0.
type invitation struct {
	Host      string // of rank 0, as hostID returns it
	Port      int
	Addresses []string // of rank 0, without those of loopback
	Token     [16]byte // proves that a connection is one of a rank
	Error     string   // "" if rank 0 listens
}

// hostID returns a text that is equal for processes that can connect to each other through loopback.
func hostID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	name, _ := os.Hostname()
	return strings.TrimSpace(string(boot)) + " " + network + " " + name
}

// gatherFunc is transport.Transport.Gather, without lost ranks.
type gatherFunc func(mine []byte) ([][]byte, error)

// connect connects rank 0 with all others. It is collective; gather carries the addresses, and at the end the errors, so
// that all ranks fail if one does.
func (c *control) connect(ctx context.Context, gather gatherFunc) error {
	var text []byte
	var listener *net.TCPListener
	if c.rank == 0 {
		var i invitation
		listener, i = invite()
		text, _ = json.Marshal(i)
	}
	all, err := gather(text)
	if err != nil {
		return err
	}
	joining, cancel := context.WithTimeout(ctx, c.lease)
	err = c.join(joining, listener, all[0])
	cancel()
	var problem string
	if err != nil {
		problem = err.Error()
	}
	problems, err := gather([]byte(problem))
	if err != nil {
		return err
	}
	return c.connected(problems)
}

// connected returns the errors of all ranks as one.
func (c *control) connected(problems [][]byte) error {
	const shown = 4
	var all []string
	for r, p := range problems {
		if len(p) > 0 && len(all) < shown {
			all = append(all, fmt.Sprintf("rank %d: %s", r, p))
		}
	}
	if len(all) == 0 {
		return nil
	}
	c.disconnect()
	return errors.New(strings.Join(all, "; "))
}

func (c *control) disconnect() {
	for _, l := range c.links {
		if l != nil {
			l.conn.Close()
		}
	}
}

// invite listens on all addresses.
func invite() (*net.TCPListener, invitation) {
	i := invitation{Host: hostID()}
	_, _ = rand.Read(i.Token[:]) // it does not fail
	listener, err := net.ListenTCP("tcp", nil)
	if err != nil {
		i.Error = err.Error()
		return nil, i
	}
	i.Port = listener.Addr().(*net.TCPAddr).Port
	addresses, _ := net.InterfaceAddrs() // without, only ranks on this machine connect
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			i.Addresses = append(i.Addresses, network.IP.String())
		}
	}
	return listener, i
}

// join accepts the connections of all others on rank 0, and connects to rank 0 elsewhere.
func (c *control) join(ctx context.Context, listener *net.TCPListener, text []byte) error {
	var i invitation
	if err := json.Unmarshal(text, &i); err != nil {
		return fmt.Errorf("the invitation of rank 0 is malformed: %w", err)
	}
	if i.Error != "" {
		return fmt.Errorf("rank 0 cannot listen on a TCP port: %s", i.Error)
	}
	if c.rank == 0 {
		defer listener.Close()
		return c.accept(ctx, listener, i.Token)
	}
	conn, err := dial(ctx, i)
	if err != nil {
		return fmt.Errorf("it cannot connect to rank 0, which finds lost ranks, by TCP: %w", err)
	}
	c.links[0] = newLink(conn)
	_, err = conn.Write(binary.LittleEndian.AppendUint32(i.Token[:], uint32(c.rank)))
	return err
}

// dial connects to the first address that answers.
func dial(ctx context.Context, i invitation) (net.Conn, error) {
	addresses := i.Addresses
	if i.Host == hostID() {
		addresses = []string{"127.0.0.1", "::1"}
	}
	var all []error
	for _, a := range addresses {
		d := net.Dialer{Timeout: 2 * time.Second}
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a, strconv.Itoa(i.Port)))
		if err == nil {
			return conn, nil
		}
		all = append(all, err)
	}
	return nil, errors.Join(all...)
}

// accept waits for a connection of every other rank. Connections without the token are closed.
func (c *control) accept(ctx context.Context, listener *net.TCPListener, token [16]byte) error {
	deadline, _ := ctx.Deadline()
	_ = listener.SetDeadline(deadline)
	for left := c.size - 1; left > 0; {
		conn, err := listener.AcceptTCP()
		if err != nil {
			return fmt.Errorf("%d of %d ranks did not connect to it by TCP within %v: %w", left, c.size-1, c.lease, err)
		}
		rank, err := greeting(conn, deadline, token)
		if err != nil || rank >= c.size || c.links[rank] != nil {
			conn.Close()
			continue
		}
		c.links[rank] = newLink(conn)
		left--
	}
	return nil
}

// greeting reads the token and the rank of a connection.
func greeting(conn net.Conn, deadline time.Time, token [16]byte) (int, error) {
	_ = conn.SetReadDeadline(deadline)
	var text [len(token) + 4]byte
	if _, err := io.ReadFull(conn, text[:]); err != nil {
		return 0, err
	}
	if subtle.ConstantTimeCompare(text[:len(token)], token[:]) == 0 {
		return 0, errors.New("the token is wrong")
	}
	return int(binary.LittleEndian.Uint32(text[len(token):])), nil
}
