package ranks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
)

// BenchmarkStep measures what the host of a rank with four devices pays for a step of the wave equation, on devices that
// check each call and run nothing. A replay is two steps of the equation.
func BenchmarkStep(b *testing.B) {
	m, err := machine.Uniform(1, 4, "h200")
	require.NoError(b, err)
	var devices []device.Device
	for _, d := range null.NewPeers(4) {
		devices = append(devices, d)
	}
	r, err := ranks.New(m, transport.Local(1)[0], devices, nil)
	require.NoError(b, err)
	tr := r.Record("wave")
	wave(512, 1).build(tr)
	trace, err := tr.Finish()
	require.NoError(b, err)
	p, err := r.Compile(context.Background(), trace, ranks.Options{})
	require.NoError(b, err)
	require.NoError(b, p.Run(context.Background(), 10))
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, p.Run(context.Background(), b.N))
}
