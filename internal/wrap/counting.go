package wrap

import (
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
)

// Counting wraps a device and adds to calls the number of driver calls that the same program makes on a GPU: one
// for each method call, one for each node of UpdateNodes, and one for each submitted command that is not Nothing.
func Counting(d device.Device, calls *atomic.Int64) device.Device {
	if calls == nil {
		return d
	}
	lists := map[device.CommandList][]int64{}
	return Intercept(d, func(c *Call, next func() error) error {
		if c.Method == "SubmitCommands" {
			err := next()
			if err == nil {
				calls.Add(submitted(lists[c.Args[0].(device.CommandList)], c.Args[1].(int), c.Args[2].(int)))
			}
			return err
		}
		if c.Method == "UpdateNodes" {
			calls.Add(int64(len(c.Args[1].([]device.NodeWork))))
			return next()
		}
		calls.Add(1)
		err := next()
		if err == nil && c.Method == "CompileCommands" {
			lists[c.Results[0].(device.CommandList)] = driverCalls(c.Args[0].([]device.Command))
		}
		return err
	})
}

// driverCalls returns the prefix sums of the driver calls of a list: element i is the number for the commands before
// command i, and the last element the number for the whole list.
func driverCalls(list []device.Command) []int64 {
	before := make([]int64, len(list)+1)
	for i := range list {
		before[i+1] = before[i]
		if _, nothing := list[i].Work.(device.Nothing); !nothing {
			before[i+1]++
		}
	}
	return before
}

// submitted returns the number of driver calls of n commands, beginning with command from, of a list that is repeated
// cyclically. The argument before is the result of driverCalls.
func submitted(before []int64, from, n int) int64 {
	commands := len(before) - 1
	if commands == 0 {
		return 0
	}
	rounds, end := int64((from+n)/commands), (from+n)%commands
	return rounds*before[commands] + before[end] - before[from]
}
