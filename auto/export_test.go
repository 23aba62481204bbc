package auto

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// Replayer and Engine replace what plans and replays repetitions.
type (
	Replayer = replayer
	Engine   = engine
)

// Start starts a program whose repetitions e makes replayable.
func Start(dev device.Device, name string, e Engine) *tracer.Tracer { return start(dev, name, e) }

// Planner returns the engine of New.
func Planner(dev device.Device, o Options) Engine { return planner(dev, o) }

// Watched is the number of calls and interludes for which a program was watched.
func Watched(t *tracer.Tracer) int { return traced.SinkOf(t).(*watcher).n }

// SetSymbolBits limits hashes of calls to some bits, until restore is called.
func SetSymbolBits(bits int) (restore func()) {
	was := symbolMask
	symbolMask = ^uint64(0) >> (64 - bits)
	return func() { symbolMask = was }
}
