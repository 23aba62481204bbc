package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/reprise-gpu/reprise/internal/effort"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// verdict compares auto with the other strategies on one input. Times are predicted, in nanoseconds for one replay.
type verdict struct {
	name, group  string
	auto, serial int64
	chose        string // by auto
	other        int64  // of the quickest other strategy
	rival        string // that strategy
	longer       int64  // of a search of ten times as many steps as auto's, 0 for none
}

func (v *verdict) beaten() bool { return v.other < v.auto }

// judgeAll judges inputs concurrently, one per processor, and returns the verdicts in the order of the inputs. After a
// cancellation of ctx it returns the verdicts so far and an error.
func judgeAll(ctx context.Context, all []input) ([]verdict, error) {
	verdicts, errs := make([]verdict, len(all)), make([]error, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				verdicts[i], errs[i] = all[i].judge()
			}
		})
	}
	judged := 0
	for ; judged < len(all) && ctx.Err() == nil; judged++ {
		progress("\r%d of %d", judged, len(all))
		next <- judged
	}
	close(next)
	workers.Wait()
	progress("\r%20s\r", "")
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	if judged < len(all) {
		return verdicts[:judged], fmt.Errorf("stopped after %d of %d inputs", judged, len(all))
	}
	return verdicts, nil
}

// progress prints to standard error if that is a terminal.
func progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, format, args...)
	}
}

// judge plans the input with each strategy.
func (in *input) judge() (v verdict, err error) {
	g, opts, err := in.make()
	if err != nil {
		return v, err
	}
	opts.Streams = in.streams
	if g, err = reduced(g, opts); err != nil {
		return v, err
	}
	v = verdict{name: in.name, group: in.group}
	plan := func(strategy string) (*ir.Schedule, error) {
		opts.Strategy = strategy
		r, err := optimizer.Plan(g, opts)
		if err != nil {
			return nil, err
		}
		return r.Schedule, nil
	}
	s, err := plan("auto")
	if err != nil {
		return v, err
	}
	v.auto, v.chose = s.Predicted, s.Strategy
	if in.searched {
		s, err := plan(fmt.Sprintf("search(%d)", 10*effort.Runs*effort.Full().Run(g.Len())))
		if err != nil {
			return v, err
		}
		v.longer = s.Predicted
	}
	for _, name := range rivals(g.Len()) {
		s, err := plan(name)
		if err != nil {
			return v, err
		}
		if name == "serial" {
			v.serial = s.Predicted
		}
		if v.rival == "" || s.Predicted < v.other {
			v.rival, v.other = name, s.Predicted
		}
	}
	return v, nil
}

// reduced runs the passes that all strategies share: hazard analysis and transitive reduction.
func reduced(g *ir.Graph, opts optimizer.Options) (*ir.Graph, error) {
	opts.Passes, opts.Verify = []string{"hazards", "reduce"}, true
	r, err := optimizer.Plan(g, opts)
	if err != nil {
		return nil, err
	}
	return r.Reduced, nil
}

// maxColored is the number of operations up to which graphs are planned by coloring.
const maxColored = 256

// rivals returns the strategies to compare with auto on a graph of the given number of operations: each with its
// defaults and with the lane limits that a user would try.
func rivals(ops int) []string {
	list := []string{"serial", "levels", "grcuda", "grcuda(same-as-parent)", "nimble", "mincover"}
	for _, k := range []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32} {
		for _, family := range []string{"roundrobin", "levels", "nimble", "listsched"} {
			list = append(list, fmt.Sprintf("%s(%d)", family, k))
		}
	}
	if ops <= maxColored {
		list = append(list, "coloring", "coloring(rlf)")
	}
	return list
}
