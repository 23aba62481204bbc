package graphexec

import "github.com/reprise-gpu/reprise/device"

// commands is a command list that is submitted as a whole. The zero value is none.
type commands struct {
	list device.CommandList
	n    int
}

func compile(dev device.Device, cmds []device.Command) (commands, error) {
	list, err := dev.CompileCommands(cmds)
	return commands{list, len(cmds)}, err
}

func (c commands) submit(dev device.Device, times int) error {
	return dev.SubmitCommands(c.list, 0, times*c.n)
}

func (c commands) close(dev device.Device) error {
	if c.list == 0 {
		return nil
	}
	return dev.DestroyCommandList(c.list)
}
