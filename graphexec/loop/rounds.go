package loop

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// rounds lowers several iterations to one graph, in a schedule of all of them if Several makes one.
func (x *Exec) rounds(size int, build func(parts.Rounds, device.Graph) error) (parts.Rounds, error) {
	several, err := x.several(size)
	if err != nil {
		return nil, err
	}
	return x.view.Rounds(parts.RoundsOptions{Size: size, Several: several, Scalar: x.until.span(), Stream: x.stream, Build: build})
}

// several returns a schedule of n iterations or of a divisor of n, and nil to repeat that of one.
func (x *Exec) several(n int) (*ir.Schedule, error) {
	if x.loop.Several == nil || n == 1 {
		return nil, nil
	}
	s, err := x.loop.Several(n)
	return s, parts.Wrapped("a schedule of several iterations", err)
}
