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

// measurement is the cost of planning one program. Times are wall-clock times, except CPU.
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
	return m, ir.VerifySchedule(res.Schedule) // after the last lap, because it is not part of planning
}

// stopwatch measures laps.
type stopwatch struct{ last time.Time }

func (s *stopwatch) lap() time.Duration {
	now := time.Now()
	d := now.Sub(s.last)
	s.last = now
	return d
}

// measureAside measures in a new process, so that the peak of memory is that of the program.
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

// quickest measures a program. A program that has a goal is measured five times, because other processes use the
// machine as well; the result is the quickest measurement with the highest peak of memory.
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

// child runs in the process that measureAside starts. It prints the measurement of one program.
func child(s shape, ops int) error {
	m, err := measure(s, ops)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// usage returns the CPU time and the peak of resident memory of this process so far, in units of 10^6 bytes.
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
