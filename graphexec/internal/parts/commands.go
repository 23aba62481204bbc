package parts

import "github.com/reprise-gpu/reprise/device"

// Commands is a command list that is submitted as a whole. The zero value is none.
type Commands struct {
	List device.CommandList
	N    int // commands
}

// Compile makes a command list.
func Compile(dev device.Device, cmds []device.Command) (Commands, error) {
	list, err := dev.CompileCommands(cmds)
	return Commands{list, len(cmds)}, err
}

// Submit enqueues the list a number of times, in one call.
func (c Commands) Submit(dev device.Device, times int) error {
	return dev.SubmitCommands(c.List, 0, times*c.N)
}

// Close frees the list.
func (c Commands) Close(dev device.Device) error {
	if c.List == 0 {
		return nil
	}
	return dev.DestroyCommandList(c.List)
}

// DestroyGraph frees a graph and its instance, either of which may be 0.
func DestroyGraph(dev device.Device, x device.GraphExec, g device.Graph) error {
	var errs []error
	if x != 0 {
		errs = append(errs, dev.DestroyGraphExec(x))
	}
	if g != 0 {
		errs = append(errs, dev.DestroyGraph(g))
	}
	return device.Join(errs...)
}
