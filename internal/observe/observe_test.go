package observe_test

import (
	"bytes"
	"log/slog"
	"runtime/pprof"
	"runtime/trace"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/observe"
)

func TestLogIsSilentByDefault(t *testing.T) {
	computed := false
	attributes := func() []slog.Attr { computed = true; return []slog.Attr{slog.Int("lanes", 2)} }
	observe.Log("planned", attributes)
	assert.False(t, computed)

	var out bytes.Buffer
	observe.SetLogger(slog.New(slog.NewTextHandler(&out, nil)))
	observe.Log("planned", attributes)
	observe.SetLogger(nil)
	observe.Log("planned", attributes)
	assert.Regexp(t, `^time=\S+ level=INFO msg=planned lanes=2\n$`, out.String())
}

// The labels of a profile of goroutines name the program while the function runs.
func TestLabelsNameTheProgram(t *testing.T) {
	var profile bytes.Buffer
	observe.Labelled(observe.Plan, "img", func() { require.NoError(t, pprof.Lookup("goroutine").WriteTo(&profile, 1)) })
	assert.Contains(t, profile.String(), `labels: {"program":"img", "reprise":"reprise: plan"}`)
	profile.Reset()
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&profile, 1))
	assert.NotContains(t, profile.String(), "img")
	assert.PanicsWithValue(t, "BUG", func() { observe.Labelled(observe.Plan, "img", func() { panic("BUG") }) })
}

// An execution trace has the names of regions and tasks. It is binary, and names are stored as they are.
func TestTracesHaveRegions(t *testing.T) {
	observe.Task(observe.Record)()
	var out bytes.Buffer
	require.NoError(t, trace.Start(&out))
	end := observe.Task(observe.Record)
	observe.Region(observe.Instantiate, func() {})
	end()
	trace.Stop()
	for _, name := range []string{observe.Record, observe.Instantiate} {
		assert.Contains(t, out.String(), name)
	}
}
