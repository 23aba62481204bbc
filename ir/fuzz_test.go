package ir_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// FuzzParse: no text makes the parser or the verifier panic, and what parses
// prints to a text that reads back to the same file and prints the same.
func FuzzParse(f *testing.F) {
	for _, src := range goldenInputs(f) {
		f.Add(src)
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 10))
		g := irtest.Analyze(irtest.Random(r, 12))
		f.Add(string(ir.Format(g, irtest.Schedule(r, g, 3))))
	}
	for seed := range uint64(5) {
		f.Add(ir.Print(irtest.Analyze(irtest.Strided(rand.New(rand.NewPCG(seed, 11)), 12))))
	}
	for seed := range uint64(5) {
		f.Add(string(ir.Format(controlled(seed))))
	}
	for seed := range uint64(5) {
		f.Add(string(filled(seed).Text()))
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<16 {
			return
		}
		file, err := ir.Parse("fuzz.rir", src)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		if err := ir.Verify(file.Graph); err != nil {
			return // some invalid graphs have no text, such as a module file without a name
		}
		if file.Schedule != nil && ir.VerifySchedule(file.Schedule) != nil {
			return
		}
		text := file.Text()
		again, err := ir.Parse("again.rir", string(text))
		require.NoError(t, err)
		require.Equal(t, file, again)
		require.Equal(t, string(text), string(again.Text()))
	})
}

// goldenInputs are the inputs of the golden cases.
func goldenInputs(f *testing.F) (inputs []string) {
	input := regexp.MustCompile(`(?ms)^(?:parse|load)[^\n]*\n(.*?)^----$`)
	paths, err := filepath.Glob("testdata/*/*")
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, m := range input.FindAllStringSubmatch(string(text), -1) {
			inputs = append(inputs, m[1])
		}
	}
	require.NotEmpty(f, inputs)
	return inputs
}
