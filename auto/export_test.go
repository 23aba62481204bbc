package auto

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// Replayer and Engine are implemented by tests, in place of the optimizer and graphexec.
type (
	Replayer = replayer
	Engine   = engine
)

// Start starts a program whose repetitions are instantiated by e.
func Start(dev device.Device, name string, e Engine) *tracer.Tracer { return start(dev, name, e) }

// Planner returns the engine of New.
func Planner(dev device.Device, o Options) Engine { return planner(dev, o) }

// Watched returns the number of calls and interludes during which a program was watched.
func Watched(t *tracer.Tracer) int { return traced.SinkOf(t).(*watcher).n }

// SetSymbolBits truncates hashes of calls to a number of bits, until restore is called.
func SetSymbolBits(bits int) (restore func()) {
	was := symbolMask
	symbolMask = ^uint64(0) >> (64 - bits)
	return func() { symbolMask = was }
}
