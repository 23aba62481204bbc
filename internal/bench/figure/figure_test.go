package figure

import (
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
	"github.com/reprise-gpu/reprise/internal/bench/strategies"
)

// invented returns a comparison with the given speedup for a workload, size and block size.
func invented(workload string, size, threads int, speedup float64) compare.Comparison {
	serial := float64(size) / 100
	c := compare.Comparison{
		Workload: workload, Size: size, Memory: "pinned", Threads: threads, Device: "sim:h200", Simulated: true, Sample: 64,
		Best: "nimble/graph", BestCPP: "c++ graph", Ratio: 1,
	}
	for i, name := range []string{"serial/graph", "nimble/graph", "nimble/streams", "c++ sync", "c++ async", "c++ graph", "c++ capture", "c++ graph1"} {
		r := compare.Row{Name: name, Record: bench.Record{OK: true}}
		over := speedup
		switch name {
		case "serial/graph", "c++ graph1":
			over = 1
		case "c++ sync":
			over = 0.3
		default:
			over -= 0.03 * float64(i)
		}
		r.ReplayUS, r.SpeedupOverSerial, r.OfBound = serial/over, over, over/4
		r.RatioToBest = speedup / over
		if i < 3 {
			r.Overlap = &overlap.Shares{CT: 0.3, TC: 0.5, CC: 0.1 * float64(i), TOT: 0.25}
		}
		c.Rows = append(c.Rows, r)
	}
	return c
}

func inventedAll() (all []compare.Comparison) {
	for i, w := range strings.Fields("vec bs img ml hits dl") {
		for n := range 5 {
			for k, threads := range []int{32, 1024} {
				all = append(all, invented(w, (n+1)*(n+1)*20_000_000, threads, 1.1+0.3*float64(i)+0.05*float64(n)+0.1*float64(k)))
			}
		}
	}
	return all
}

func TestEveryFigureIsDrawnInBothFormats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	other := invented("vec", 1000, 32, 2)
	other.Memory, other.Simulated, other.Sample, other.Device = "managed", false, 0, "gpu0"
	paths, err := Write(dir, append(inventedAll(), other))
	require.NoError(t, err)
	var want []string
	for _, mode := range []string{"pinned", "managed"} {
		for _, kind := range []string{"speedup", "ratio", "overlap", "bound"} {
			for _, format := range []string{"svg", "png"} {
				want = append(want, filepath.Join(dir, fmt.Sprintf("%s-%s.%s", kind, mode, format)))
			}
		}
	}
	assert.Equal(t, want, paths)
	for _, path := range paths {
		if strings.HasSuffix(path, ".png") {
			file, err := os.Open(path)
			require.NoError(t, err)
			_, err = png.Decode(file)
			assert.NoError(t, err, path)
			require.NoError(t, file.Close())
			continue
		}
		text := textOf(t, path)
		if strings.Contains(path, "managed") {
			assert.Contains(t, text, "gpu0; memory mode managed")
			assert.NotContains(t, text, "simulated")
		} else {
			assert.Contains(t, text, "sim:h200, simulated: virtual time, 64 blocks of each launch run; memory mode pinned")
		}
		for _, w := range strings.Fields("VEC B&S IMG ML HITS DL") {
			if strings.Contains(path, "pinned") {
				assert.Contains(t, text, w, path)
			}
		}
	}
	// Speedups of vec: sizes 1.1 to 1.3 and 1.2 to 1.4 by block size, less 0.03 for the row.
	assert.Contains(t, textOf(t, filepath.Join(dir, "speedup-pinned.svg")), "1.22x")
}

// textOf returns the text in a drawing.
func textOf(t *testing.T, path string) string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var text strings.Builder
	d := xml.NewDecoder(file)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return text.String()
		}
		require.NoError(t, err, path)
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
			text.WriteByte('\n')
		}
	}
}

func TestTheSameComparisonsGiveTheSameDrawing(t *testing.T) {
	var drawn [2]string
	for i := range drawn {
		dir := t.TempDir()
		paths, err := Write(dir, inventedAll())
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			drawn[i] += string(data)
		}
	}
	assert.True(t, drawn[0] == drawn[1])
}

// TestWhatIsNotKnownIsLeftOut expects no figure of overlap without profiles, and no bars for unknown values.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	c := invented("vec", 1000, 32, 2)
	for i := range c.Rows {
		c.Rows[i].Overlap, c.Rows[i].OfBound, c.Rows[i].RatioToBest = nil, 0, 0
	}
	paths, err := Write(t.TempDir(), []compare.Comparison{c})
	require.NoError(t, err)
	assert.Len(t, paths, 3*2)
}

func TestLongTitlesFit(t *testing.T) {
	for _, kind := range kinds {
		f := kind.draw(inventedAll()[:2]) // one workload
		w, _ := f.size()
		for _, l := range f.lines() {
			assert.LessOrEqual(t, l.style.Width(l.text)+2*margin, w, kind.name)
		}
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for most, want := range map[float64]string{
		0.9: "0 0.25 0.5 0.75", 1.15: "0 0.25 0.5 0.75 1", 1.6: "0 0.5 1 1.5", 2.5: "0 0.5 1 1.5 2 2.5", 4.2: "0 1 2 3 4", 57: "0 10 20 30 40 50", 115: "0 25 50 75 100",
	} {
		var got []string
		for _, tick := range ticks(0, most) {
			got = append(got, tick.Label)
		}
		assert.Equal(t, want, strings.Join(got, " "))
	}
}

func TestSizesAreWrittenAsPeopleSayThem(t *testing.T) {
	for n, want := range map[int]string{64: "64", 1600: "1600", 16000: "16000", 200_000: "200k", 131_072: "131k", 999_960: "1000k", 1 << 20: "1.05M", 20_000_000: "20M", 1_200_000_000: "1.2G"} {
		assert.Equal(t, want, count(n))
	}
	for us, want := range map[float64]string{0.5: "0.5 us", 12.345: "12.3 us", 999.96: "1000 us", 4321: "4.32 ms", 1.2e6: "1.2 s"} {
		assert.Equal(t, want, duration(us))
	}
}

// TestStrategiesAreDrawn expects panels with every graph and strategy. A strategy that refused a graph has no bar.
func TestStrategiesAreDrawn(t *testing.T) {
	row := func(name string, ratio float64) strategies.Row {
		return strategies.Row{Strategy: name, OverBound: ratio, Waits: 7}
	}
	all := []*strategies.Comparison{
		{Graph: "first", Device: "h200", Ops: 3, Rows: []strategies.Row{row("serial", 2), {Strategy: "exact", Error: "too large"}}},
		{Graph: "second", Device: "h200", Ops: 4, Rows: []strategies.Row{row("serial", 1), row("exact", 1.5)}},
		{Graph: "third", Device: "h200", Ops: 5, Rows: []strategies.Row{row("serial", 1), row("exact", 1.5)}},
	}
	paths, err := WriteStrategies(t.TempDir(), all)
	require.NoError(t, err)
	require.Len(t, paths, 2)
	svg, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	for _, want := range []string{"first, 3 operations", "second, 4 operations", "third, 5 operations", "serial", "exact"} {
		assert.Contains(t, string(svg), want)
	}
	assert.Equal(t, 5, strings.Count(string(svg), ">7<"), "waits above each bar")
}

func TestResidualsAreDrawn(t *testing.T) {
	dir := t.TempDir()
	paths, err := WriteResiduals(dir, Residuals{
		Title: "poisson2d:64: residual by iteration", About: "4096 unknowns",
		Curves: []Curve{
			{"cg", []float64{1, 3, 0.1, 1e-9, 0}},
			{"gmres", []float64{1, math.NaN(), math.Inf(1)}},
			{"nothing", nil},
		},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "residual.svg"), filepath.Join(dir, "residual.png")}, paths)
	drawing, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	for _, want := range []string{"cg", "gmres", "nothing", "relative residual", "iteration", "1e-9", "1e1", "4096 unknowns"} {
		assert.Contains(t, string(drawing), ">"+want+"<")
	}
	assert.NotContains(t, string(drawing), "NaN")
}

// TestManyResidualsAreToldApart draws more methods than fit in a line of the legend, and more than there are colours.
// All must be named inside the figure and be distinguishable.
func TestManyResidualsAreToldApart(t *testing.T) {
	var r Residuals
	for i := range 12 {
		r.Curves = append(r.Curves, Curve{fmt.Sprintf("a method with a long name %d", i), []float64{1, 0.1}})
	}
	f := r.figure()
	width, height := f.size()
	seen := map[string]bool{}
	var lines int
	for _, line := range f.legendLines(width - 2*margin) {
		var across vg.Length
		for _, e := range line {
			seen[fmt.Sprint(e.color, e.dashed)] = true
			across += e.width()
		}
		assert.LessOrEqual(t, across-4*gap, width-2*margin)
		lines++
	}
	assert.Len(t, seen, 12)
	assert.Greater(t, lines, 1)
	r.Curves = r.Curves[:1]
	_, low := r.figure().size()
	assert.InDelta(t, float64(legendHeight)*float64(lines-1), float64(height-low), 1e-9)
}

func TestDecadesAreFew(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     []string
	}{{0.1, 1, []string{"1e0", "1e-1"}}, {1e-20, 10, []string{"1e1", "1e-2", "1e-5", "1e-8", "1e-11", "1e-14", "1e-17", "1e-20"}}} {
		var labels []string
		for _, tick := range decades(c.from, c.to) {
			labels = append(labels, tick.Label)
		}
		assert.Equal(t, c.want, labels)
	}
}
