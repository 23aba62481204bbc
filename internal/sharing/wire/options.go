package wire

import (
	"io/fs"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Options configure a server. Zero values have defaults.
type Options struct {
	Policy sharing.Policy // nil means Fill
	Caps   Caps
	Lease  time.Duration // 100 ms
	Factor float64       // of the predicted time of a grant; 10
	Mode   fs.FileMode   // of the socket; 0600
	Limits Limits
	Log    func(format string, args ...any) // a line for each connection that begins or ends; nil means none
}

// Limits bound what clients may use. Zero values have defaults.
type Limits struct {
	Clients int           // connections, which are programs; 64
	Stages  int           // of a program; 4096
	Units   int           // of a program; 65536
	Time    time.Duration // predicted, of the units of a stage together; 1 minute
	Waiting int           // submitted stages of a program that have not ended; 64
	Rate    int           // messages per second after the registration; 500 000
	Silence time.Duration // until a client has registered; 5 s
}

func (o Options) withDefaults() Options {
	if o.Policy == nil {
		o.Policy = sharing.NewFill(sharing.Fill{})
	}
	setDefault(&o.Lease, 100*time.Millisecond)
	setDefault(&o.Factor, 10)
	setDefault(&o.Mode, 0o600)
	l := &o.Limits
	setDefault(&l.Clients, 64)
	setDefault(&l.Stages, 4096)
	setDefault(&l.Units, 65536)
	setDefault(&l.Time, time.Minute)
	setDefault(&l.Waiting, 64)
	setDefault(&l.Rate, 500_000)
	setDefault(&l.Silence, 5*time.Second)
	l.Stages = min(l.Stages, 1<<16)
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return o
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
