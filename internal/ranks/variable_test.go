package ranks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// counter adds the number of launches so far, which it keeps in a variable of its module, to an element.
const counter = `.version 6.0
.target sm_60
.address_size 64
.global .u32 launches;

.visible .entry counter(.param .u64 x)
{
	.reg .u32 %r<4>;
	.reg .u64 %rd<2>;
	ld.param.u64 %rd1, [x];
	ld.global.u32 %r1, [launches];
	add.u32 %r1, %r1, 1;
	st.global.u32 [launches], %r1;
	ld.global.u32 %r2, [%rd1];
	add.u32 %r3, %r2, %r1;
	st.global.u32 [%rd1], %r3;
	ret;
}
`

// counted launches the counter twice.
func counted() *program {
	return &program{
		name: "counted", steps: 3,
		build: func(tr *tracer.Tracer) []tracer.Buffer {
			x, y := tr.Alloc("x", ir.I32, 1, ir.InOut), tr.Alloc("y", ir.I32, 1, ir.InOut)
			k := tr.Module("counter.ptx", counter).Kernel("counter")
			tr.Launch(k, tracer.Linear(1, 1), x)
			tr.Launch(k, tracer.Linear(1, 1), y)
			return []tracer.Buffer{x, y}
		},
		contents: func(b int) []byte { return []byte{byte(100 * b), 0, 0, 0} },
	}
}

// A machine of one device runs kernels that write variables of their module, in program order.
func TestVariableOnOneDevice(t *testing.T) {
	m, err := machine.Uniform(1, 1, "h200")
	require.NoError(t, err)
	p := counted()
	want := [][]byte{{1 + 3 + 5, 0, 0, 0}, {100 + 2 + 4 + 6, 0, 0, 0}}
	require.Equal(t, want, p.alone(t))
	for _, streams := range []bool{false, true} {
		for _, p.together = range []bool{false, true} {
			assert.Equal(t, want, p.distributed(t, m, ranks.Options{Streams: streams}))
		}
	}
}

// Several devices refuse such kernels, and checkpoints do on one device.
func TestVariableIsRefused(t *testing.T) {
	for devices, want := range map[int]string{1: "a kernel writes variable counter.launches of its module, which checkpoints do not contain", 2: "a copy of counter.launches on each device would differ"} {
		m, err := machine.Uniform(1, devices, "h200")
		require.NoError(t, err)
		for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
			tr := r.Record("counted")
			counted().build(tr)
			trace, err := tr.Finish()
			if err != nil {
				return err
			}
			plan, err := r.Compile(context.Background(), trace, ranks.Options{})
			if err != nil {
				return err
			}
			defer plan.Close()
			return plan.Checkpoint(t.TempDir(), 1)
		}) {
			assert.ErrorContains(t, err, want)
		}
	}
}
