package tenants

import "fmt"

// Mode is a way of sharing a device.
type Mode uint8

// The modes, in the order of tables.
const (
	Exclusive Mode = iota
	Time
	Space
	Branches
	Batch
	SpaceTime
	modes
)

var modeNames = [modes]string{"exclusive", "time", "space", "branches", "batch", "spacetime"}

func (m Mode) String() string {
	if m >= modes {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// Modes lists all modes.
func Modes() []Mode { return []Mode{Exclusive, Time, Space, Branches, Batch, SpaceTime} }
