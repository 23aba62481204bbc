package mpi

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// signals handles SIGTERM, which mpirun sends to all ranks a second after one was killed, and which ends a process at
// once if it is not handled. A second later, mpirun sends SIGKILL. Another rank that exits cuts either second short.
type signals struct {
	arrived chan os.Signal
	stopped chan struct{}
}

// After SIGTERM, the control may report within grace that another rank is lost. The program may then end by itself within
// leave.
const grace, leave = 200 * time.Millisecond, 500 * time.Millisecond

var errTerminated = errors.New("it received SIGTERM")

func watchSignals(c *control) *signals {
	s := &signals{arrived: make(chan os.Signal, 1), stopped: make(chan struct{})}
	signal.Notify(s.arrived, syscall.SIGTERM)
	go s.watch(c)
	return s
}

func (s *signals) watch(c *control) {
	select {
	case <-s.arrived:
	case <-s.stopped:
		return
	}
	select {
	case <-c.failed:
	case <-time.After(grace):
		c.fail(&transport.LostError{Rank: c.rank, Err: errTerminated}, -1)
		<-c.failed
	}
	select {
	case <-s.stopped:
	case <-time.After(leave):
		fmt.Fprintf(os.Stderr, "rank %d ends on SIGTERM: %v\n", c.rank, c.failure())
		signal.Stop(s.arrived)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
}

// stop restores what SIGTERM did before. A nil s has nothing to stop.
func (s *signals) stop() {
	if s != nil {
		signal.Stop(s.arrived)
		close(s.stopped)
	}
}
