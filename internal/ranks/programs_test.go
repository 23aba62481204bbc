package ranks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/tracer"
)

// The programs give the bytes of one device, and the results of their CPU references, on machines of four devices.
func TestPrograms(t *testing.T) {
	for _, kind := range programs.Kinds() {
		text := kind.Name + ":" + kind.Tiny
		prog, err := programs.Parse(text)
		require.NoError(t, err)
		const replays = 3
		alone := run(t, prog, 1, 1, replays)
		for _, size := range [][2]int{{1, 4}, {4, 1}, {2, 2}} {
			t.Run(fmt.Sprintf("%s on %d x %d", text, size[0], size[1]), func(t *testing.T) {
				got := run(t, prog, size[0], size[1], replays)
				for i := range alone {
					assert.True(t, string(alone[i]) == string(got[i]), "result %d", i)
				}
			})
		}
	}
}

// run runs a program on a machine, checks its results against the reference and returns them.
func run(t testing.TB, prog *programs.Program, nodes, devices, replays int) (results [][]byte) {
	m, err := machine.Uniform(nodes, devices, "h200")
	require.NoError(t, err)
	ctx := context.Background()
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record(prog.Kind.Name)
		in := prog.Record(tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		plan, err := r.Compile(ctx, trace, ranks.Options{})
		if err != nil {
			return err
		}
		defer plan.Close()
		if err := in.Start(func(b tracer.Buffer, data []byte) error { return plan.Write(b.Range(), data) }); err != nil {
			return err
		}
		if err := plan.Run(ctx, replays); err != nil {
			return err
		}
		var list [][]byte
		_, err = in.Check(replays, func(data []byte, b tracer.Buffer) error {
			err := plan.Read(ctx, data, b.Range())
			list = append(list, append([]byte(nil), data...))
			return err
		})
		if r.Number() == 0 {
			results = list
			if nodes*devices == 4 && nodes == 2 {
				t.Log(strings.TrimSpace(plan.Why()))
			}
		}
		return err
	}) {
		require.NoError(t, err)
	}
	return results
}
