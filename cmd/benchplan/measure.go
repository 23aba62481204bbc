package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// measurement is what one program cost. Times are of the wall clock but for CPU.
type measurement struct {
	Ops, Deps, Reduced  int
	Lanes, Syncs        int
	Trace, Hazards      time.Duration
	Reduce, Assign, CPU time.Duration
	PeakMB              float64
}

// total is the time from the first launch to the schedule.
func (m *measurement) total() time.Duration { return m.Trace + m.Hazards + m.Reduce + m.Assign }

// measure traces and plans one program in this process.
func measure(s shape, ops int) (m measurement, err error) {
	clock := stopwatch{time.Now()}
	trace, err := s.traced(ops)
	if err != nil {
		return m, err
	}
	m.Trace = clock.lap()
	res := &optimizer.Result{Graph: trace.Graph}
	plan := func(passes ...string) error {
		res, err = optimizer.Plan(res.Graph, optimizer.Options{Passes: passes})
		return err
	}
	if err := plan("hazards"); err != nil {
		return m, err
	}
	m.Deps, m.Hazards = len(res.Graph.Deps()), clock.lap()
	if err := plan("hazards", "reduce"); err != nil {
		return m, err
	}
	m.Reduced, m.Reduce = len(res.Graph.Deps()), clock.lap()
	if err := plan("hazards", "reduce", "assign", "syncs"); err != nil {
		return m, err
	}
	m.Assign = clock.lap()
	m.CPU, m.PeakMB = usage()
	m.Ops, m.Lanes, m.Syncs = res.Graph.Len(), res.Schedule.Lanes, res.Schedule.Syncs()
	return m, ir.VerifySchedule(res.Schedule) // afterwards: it is no part of planning
}

// stopwatch measures laps.
type stopwatch struct{ last time.Time }

func (s *stopwatch) lap() time.Duration {
	now := time.Now()
	d := now.Sub(s.last)
	s.last = now
	return d
}

// measureAside measures in a new process, whose peak of memory is the program's own.
func measureAside(s shape, ops int) (m measurement, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.Command(self, "-child", "-shape", s.name, "-ops", strconv.Itoa(ops))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("%s of %d launches: %w", s.name, ops, err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("%s of %d launches: %w", s.name, ops, err)
	}
	return m, nil
}

// quickest measures a program, and one that has a goal five times, as others use the machine, too: the quickest counts,
// with the highest peak.
func quickest(s shape, ops int) (m measurement, err error) {
	times := 1
	if s.goal != nil && s.goal.ops == ops {
		times = 5
	}
	for i := range times {
		next, err := measureAside(s, ops)
		if err != nil {
			return m, err
		}
		peak := max(m.PeakMB, next.PeakMB)
		if i == 0 || next.total() < m.total() {
			m = next
		}
		m.PeakMB = peak
	}
	return m, nil
}

// child prints the measurement of one program.
func child(s shape, ops int) error {
	m, err := measure(s, ops)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// usage is what this process has used so far.
func usage() (cpu time.Duration, peakMB float64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: getrusage: " + err.Error())
	}
	rss := float64(u.Maxrss) * 1024 // Linux counts kilobytes
	if runtime.GOOS == "darwin" {
		rss = float64(u.Maxrss)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss / 1e6
}
