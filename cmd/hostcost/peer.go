//go:build cuda && cgo

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
)

// peer is the running C++ program, with one schedule.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(path string, s *ir.Schedule) (*peer, error) {
	p := &peer{cmd: exec.Command(path)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the program in C++: %w", err)
	}
	return p, writeSchedule(p.in, s)
}

// writeSchedule writes a schedule in the peer's format. Operations are numbered in the order of submission.
func writeSchedule(to io.Writer, s *ir.Schedule) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "schedule %d %d\n", len(s.Order), s.Lanes)
	turn := make([]int, len(s.Order))
	for i, op := range s.Order {
		turn[op] = i
		fmt.Fprint(w, s.Lane[op], " ", len(s.Waits[op]))
		for _, u := range s.Waits[op] {
			fmt.Fprint(w, " ", turn[u])
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// replay makes the C++ program submit the given number of replays.
func (p *peer) replay(form graphexec.Backend, times int) (t turn, err error) {
	if _, err := fmt.Fprintln(p.in, form, times); err != nil {
		return t, fmt.Errorf("the program in C++: %w", err)
	}
	var ns int64
	if _, err := fmt.Fscan(p.out, &ns, &t.calls); err != nil {
		return t, fmt.Errorf("the program in C++ gave no answer: %w", err)
	}
	t.took = time.Duration(ns)
	return t, nil
}

// count switches the C++ program's counting of driver calls on or off.
func (p *peer) count(on bool) error {
	line := "count 0"
	if on {
		line = "count 1"
	}
	_, err := fmt.Fprintln(p.in, line)
	if err != nil {
		return fmt.Errorf("the program in C++: %w", err)
	}
	return nil
}

func (p *peer) close() error {
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the program in C++: %w", err)
	}
	return nil
}
