//go:build !linux

package wire

import (
	"errors"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

var errSystem = errors.New("sharing a device between processes requires Linux")

// Server is the scheduler that processes share.
type Server struct{}

// Serve returns an error: the server waits with epoll.
func Serve(string, Options) (*Server, error) { return nil, errSystem }

// Close does nothing.
func (*Server) Close() error { return errSystem }

// Wait does nothing.
func (*Server) Wait() error { return errSystem }

// Client is a program at a server.
type Client struct{}

// Dial returns an error: there is no server.
func Dial(string) (*Client, error) { return nil, errSystem }

// Policy returns nothing.
func (*Client) Policy() string { return "" }

// Form returns nothing.
func (*Client) Form() (f sharing.Form) { return f }

// Register returns an error.
func (*Client) Register(string, int, []sharing.Stage) (int, error) { return 0, errSystem }

// Arrive returns an error.
func (*Client) Arrive(int) error { return errSystem }

// Completed returns an error.
func (*Client) Completed() error { return errSystem }

// Cancel returns an error.
func (*Client) Cancel() error { return errSystem }

// Receive returns an error.
func (*Client) Receive() (e Event, err error) { return e, errSystem }

// Close does nothing.
func (*Client) Close() error { return nil }
