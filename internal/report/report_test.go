package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/report"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
)

// collect returns the report of a program on the simulated H200.
func collect(t testing.TB, p tenants.Program, strategies ...string) *report.Data {
	t.Helper()
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	in, err := p.New(dev, 1, 1)
	require.NoError(t, err)
	src := &timeline.Program{Name: in.Graph.Name, Graph: in.Graph, Bound: in.Bound, Reset: in.Reset}
	d, err := report.Collect(context.Background(), dev, src, report.Options{Tool: "test", Strategies: strategies, Backends: []graphexec.Backend{graphexec.Graph}})
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, dev.Close())
	return d
}

func img(t testing.TB) tenants.Program {
	w, err := bench.LookupWorkload("img")
	require.NoError(t, err)
	return tenants.OfWorkload(w, bench.Params{Size: w.Tiny, Blocks: 8})
}

// blocks returns a program of n·(3·tiles+1) operations: in each block, a buffer is copied by tiles to temporaries and back,
// and then as a whole to the buffer of the next block.
func blocks(n, tiles int) tenants.Program {
	const tile = 1 << 10
	size := int64(tiles * tile)
	g := &ir.Graph{Name: "blocks"}
	buffer := func(name string, role ir.Role) ir.BufferID {
		g.Buffers = append(g.Buffers, ir.Buffer{Name: name, Elem: ir.U8, Len: size, Role: role})
		return ir.BufferID(len(g.Buffers) - 1)
	}
	line := 0
	add := func(label string, dst, src ir.BufferID, lo, hi int64) {
		line++
		g.Ops = append(g.Ops, ir.Op{Kind: ir.KindCopy, Cost: -1, Label: label, Pos: &ir.Position{File: "blocks.go", Line: 10 + line%9},
			Copy: &ir.Copy{Dst: ir.Range{Buffer: dst, Lo: lo, Hi: hi}, Src: ir.Range{Buffer: src, Lo: lo, Hi: hi}}})
	}
	x := buffer("x", ir.InOut)
	for b := range n {
		t, u, y := buffer(fmt.Sprintf("t%d", b), ir.Temporary), buffer(fmt.Sprintf("u%d", b), ir.Temporary), buffer(fmt.Sprintf("x%d", b+1), ir.Temporary)
		for i := range int64(tiles) {
			for step, c := range [][2]ir.BufferID{{t, x}, {u, t}, {t, u}} {
				add(fmt.Sprintf("block%d.tile%d.step%d", b, i, step), c[0], c[1], i*tile, (i+1)*tile)
			}
		}
		if b == n-1 {
			y = 0
		}
		add(fmt.Sprintf("block%d.join", b), y, t, 0, size)
		x = y
	}
	return tenants.OfWorkload(bench.OfFile(g.Name, &ir.File{Graph: g}), bench.Params{})
}

// TestReportDescribesTheProgram checks the report of the image pipeline.
func TestReportDescribesTheProgram(t *testing.T) {
	d := collect(t, img(t), "serial", "nimble")
	require.Len(t, d.Operation, 13)
	require.Len(t, d.Plans, 2)
	serial, nimble := &d.Plans[0], &d.Plans[1]
	assert.Equal(t, 1, serial.Lanes)
	assert.Less(t, nimble.Total, serial.Total)
	assert.Positive(t, nimble.Uncertainty)
	kept := 0
	for _, e := range d.Edges {
		assert.Less(t, e.From, e.To)
		if e.Kept {
			kept++
		}
		if strings.Contains(e.Hazard, "raw") {
			assert.Positive(t, e.Bytes)
			assert.True(t, strings.HasPrefix(e.Range, "@"), e.Range)
		}
	}
	assert.Equal(t, 14, kept)
	for _, p := range d.Plans {
		require.Len(t, p.Spans, 13)
		sum := int64(0)
		for _, c := range p.Causes {
			sum += c.PS
		}
		assert.Equal(t, p.Total, sum, "the causes add up")
		assert.LessOrEqual(t, p.Bound, p.Total)
		assert.LessOrEqual(t, p.Memory.Bound, p.Memory.Shared)
		assert.LessOrEqual(t, p.Memory.Shared, p.Memory.Separate)
		peak := int64(0)
		for _, l := range p.Memory.Live {
			peak = max(peak, l[1])
		}
		assert.LessOrEqual(t, peak, p.Memory.Separate)
		assert.Equal(t, p.Memory.Live[0][1], p.Memory.Live[len(p.Memory.Live)-1][1], "temporaries are not in use before and after a replay")
	}
	assert.Nil(t, d.Closed, "a small program has no closed groups")
}

// TestGroupsOfALargeProgram checks that groups are runs of program order between which no cycle is possible, and that both
// drawings place every node.
func TestGroupsOfALargeProgram(t *testing.T) {
	d := collect(t, blocks(20, 8), "nimble")
	require.Len(t, d.Operation, 500)
	require.NotNil(t, d.Closed)
	require.Greater(t, len(d.Groups), 10)
	require.Less(t, len(d.Groups), 40)
	seen := make([]bool, len(d.Operation))
	for g, group := range d.Groups {
		for i, v := range group.Ops {
			require.False(t, seen[v])
			seen[v] = true
			require.Equal(t, g, d.Operation[v].Group)
			if i > 0 {
				require.Equal(t, group.Ops[i-1]+1, v, "a run")
			}
		}
		first, _, _ := strings.Cut(d.Operation[group.Ops[0]].Title, ".")
		last, _, _ := strings.Cut(d.Operation[group.Ops[len(group.Ops)-1]].Title, ".")
		assert.Equal(t, first, last, "a group ends where the label changes")
		assert.NotEqual(t, [2]float64{}, d.Closed.At[len(d.Operation)+g])
	}
	require.Len(t, d.Open.At, len(d.Operation))
	for _, e := range d.Edges {
		if e.Kept {
			assert.Less(t, d.Open.At[e.From][1], d.Open.At[e.To][1], "edges go down")
		}
	}
}

// TestPageIsComplete checks that the page refers to nothing outside of itself, and that its data are what was collected.
func TestPageIsComplete(t *testing.T) {
	d := collect(t, img(t), "nimble")
	d.Program = `</script><b>"img" & 'more'`
	var page bytes.Buffer
	require.NoError(t, d.WritePage(&page))
	text := page.String()
	assert.NotRegexp(t, `(src|href)="[^#]`, text)
	assert.NotRegexp(t, `https?://[^\s"]*\.(js|css|woff2?|png)`, text)
	assert.Equal(t, 3, strings.Count(text, "<script"), "only our own scripts")
	embedded := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(text)
	require.NotNil(t, embedded)
	var back report.Data
	require.NoError(t, json.Unmarshal([]byte(embedded[1]), &back))
	assert.Equal(t, d.Program, back.Program)
	assert.Equal(t, d.Plans[0].Spans, back.Plans[0].Spans)
}

// TestBundleIsBuiltFromTheSources compares the committed bundle and its sources with the hashes of the last build. After a
// change to web/src run `make report-web` and commit the result.
func TestBundleIsBuiltFromTheSources(t *testing.T) {
	sums, err := os.ReadFile("web/dist/SHA256SUMS")
	require.NoError(t, err)
	var listed []string
	for line := range strings.Lines(string(sums)) {
		sum, path, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		text, err := os.ReadFile("web/" + path)
		require.NoError(t, err)
		got := sha256.Sum256(text)
		assert.Equal(t, sum, hex.EncodeToString(got[:]), "%s has changed since the bundle was built: run make report-web", path)
		listed = append(listed, path)
	}
	sources, err := os.ReadDir("web/src")
	require.NoError(t, err)
	for _, s := range sources {
		assert.True(t, slices.Contains(listed, "src/"+s.Name()), "%s is not in the bundle: run make report-web", s.Name())
	}
	bundle, err := os.ReadFile("web/dist/layout.js")
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(bundle), "Permission is hereby granted"), "the licence of dagre is part of the bundle")
}
