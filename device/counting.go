package device

import "sync/atomic"

// WithCounting wraps a device so that calls counts what the calls on it are to a GPU's
// driver: one each, but submitting commands is one for every command.
func WithCounting(d Device, calls *atomic.Int64) Device {
	if calls == nil {
		return d
	}
	lists := map[CommandList][]int64{}
	return Intercept(d, func(c *Call, next func() error) error {
		if c.Method == "SubmitCommands" {
			err := next()
			if err == nil {
				calls.Add(submitted(lists[c.Args[0].(CommandList)], c.Args[1].(int), c.Args[2].(int)))
			}
			return err
		}
		if c.Method == "UpdateNodes" {
			calls.Add(int64(len(c.Args[1].([]NodeWork))))
			return next()
		}
		calls.Add(1)
		err := next()
		if err == nil && c.Method == "CompileCommands" {
			lists[c.Results[0].(CommandList)] = driverCalls(c.Args[0].([]Command))
		}
		return err
	})
}

// driverCalls counts, by command, those before it that are more than nothing, and all at the
// end.
func driverCalls(list []Command) []int64 {
	before := make([]int64, len(list)+1)
	for i := range list {
		before[i+1] = before[i]
		if _, nothing := list[i].Work.(Nothing); !nothing {
			before[i+1]++
		}
	}
	return before
}

// submitted is the calls of n commands from one on, going round.
func submitted(before []int64, from, n int) int64 {
	commands := len(before) - 1
	if commands == 0 {
		return 0
	}
	rounds, end := int64((from+n)/commands), (from+n)%commands
	return rounds*before[commands] + before[end] - before[from]
}
