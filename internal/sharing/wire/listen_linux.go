package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxPath is the length of the longest path of a socket.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// socket is a socket that listens, and its file.
type socket struct {
	fd    int
	path  string
	inode uint64
}

// address returns the address of a path. A leading @ would name a socket without a file.
func address(path string) (*unix.SockaddrUnix, error) {
	if strings.HasPrefix(path, "@") {
		path = "./" + path
	}
	switch {
	case path == "":
		return nil, errors.New("the path of the socket is empty")
	case strings.Contains(path, "\x00"):
		return nil, errors.New("the path of the socket has a zero byte")
	case len(path) > maxPath:
		return nil, fmt.Errorf("the path %s of the socket has %d bytes, more than the %d that the system takes: use a shorter one", path, len(path), maxPath)
	}
	return &unix.SockaddrUnix{Name: path}, nil
}

// listen makes a socket. A file that a dead server has left is replaced.
func listen(path string, mode fs.FileMode) (*socket, error) {
	at, err := address(path)
	if err != nil {
		return nil, err
	}
	s := &socket{path: path}
	if s.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("cannot make a socket: %w", err)
	}
	if err := s.bind(at, mode); err != nil {
		unix.Close(s.fd)
		return nil, err
	}
	return s, nil
}

func (s *socket) bind(at *unix.SockaddrUnix, mode fs.FileMode) error {
	err := unix.Bind(s.fd, at)
	if err == unix.EADDRINUSE {
		if err := removeStale(s.path, at); err != nil {
			return err
		}
		err = unix.Bind(s.fd, at)
	}
	if err != nil {
		return fmt.Errorf("cannot make the socket %s: %w", s.path, err)
	}
	// Nobody can connect before Listen, so the file never admits more than its mode.
	if err := errors.Join(os.Chmod(at.Name, mode), unix.Listen(s.fd, backlog)); err != nil {
		os.Remove(at.Name)
		return fmt.Errorf("cannot open the socket %s: %w", s.path, err)
	}
	s.path, s.inode = at.Name, inode(at.Name)
	return nil
}

// backlog is the number of connections that may wait to be accepted.
const backlog = 128

// close closes the socket, and removes its file unless another has taken its place.
func (s *socket) close() {
	unix.Close(s.fd)
	if inode(s.path) == s.inode {
		os.Remove(s.path)
	}
}

// inode returns the number of a file, 0 if there is none.
func inode(path string) uint64 {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// removeStale removes the socket of a server that has died. Any other file is an error.
//
// Two servers may find the same stale file, and the slower one must not remove the socket of the quicker one. The file is
// therefore moved aside, and moved back if it turns out to be served.
func removeStale(path string, at *unix.SockaddrUnix) error {
	info, err := os.Lstat(at.Name)
	if err != nil {
		return fmt.Errorf("cannot make the socket %s: %w", path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("cannot make the socket %s: the file exists and is not a socket", path)
	}
	live := fmt.Errorf("a server listens at %s: stop it, or use another socket", path)
	if served(at) {
		return live
	}
	aside := &unix.SockaddrUnix{Name: filepath.Join(filepath.Dir(at.Name), fmt.Sprintf(".%x", os.Getpid()))}
	if err := os.Rename(at.Name, aside.Name); err != nil {
		return fmt.Errorf("cannot replace the socket %s of a server that has ended: %w", path, err)
	}
	if served(aside) {
		return errors.Join(live, os.Rename(aside.Name, at.Name))
	}
	return os.Remove(aside.Name)
}

// served reports whether a server listens at a socket. A server that has just bound its socket needs a moment until
// it listens.
func served(at *unix.SockaddrUnix) bool {
	for range 3 {
		fd, err := connect(at)
		if err == nil {
			unix.Close(fd)
		}
		if err != unix.ECONNREFUSED {
			return err != unix.ENOENT
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// connect connects to a socket.
func connect(at *unix.SockaddrUnix) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = unix.Connect(fd, at); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
