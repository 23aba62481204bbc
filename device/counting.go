package device

import "sync/atomic"

// WithCounting wraps a device so that calls counts what the calls on it are to a GPU's
// driver: one each, but submitting a command list is one for every command.
func WithCounting(d Device, calls *atomic.Int64) Device {
	commands := map[CommandList]int64{}
	return Intercept(d, func(c *Call, next func() error) error {
		if c.Method == "SubmitCommands" {
			calls.Add(commands[c.Args[0].(CommandList)])
			return next()
		}
		calls.Add(1)
		err := next()
		if err == nil && c.Method == "CompileCommands" {
			commands[c.Results[0].(CommandList)] = driverCalls(c.Args[0].([]Command))
		}
		return err
	})
}

// driverCalls counts the commands that are more than nothing.
func driverCalls(list []Command) (n int64) {
	for i := range list {
		if _, nothing := list[i].Work.(Nothing); !nothing {
			n++
		}
	}
	return n
}
