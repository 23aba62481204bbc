package report_test

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/browser"
	"github.com/reprise-gpu/reprise/internal/report"
)

// patience bounds a test with a browser. It passes within seconds; a busy machine may need longer.
const patience = 3 * time.Minute

// tab is an open report.
type tab struct {
	*testing.T
	*browser.Page
}

// show writes the page of a report and opens it in a headless Chromium. Without Chromium the test is skipped.
func show(t *testing.T, d *report.Data) *tab {
	t.Helper()
	path := browser.Find()
	if path == "" {
		t.Skip("no Chromium on this machine: install the package chromium")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, d.WritePage(out))
	require.NoError(t, out.Close())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b, err := browser.Start(ctx, path, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(b.Log())
		}
		require.NoError(t, b.Close())
	})
	p, err := b.Open(ctx, "file://"+file, 1440, 2200, "document.documentElement.dataset.ready && "+drawn)
	require.NoError(t, err)
	return &tab{t, p}
}

// drawn holds once the canvases have been drawn.
const drawn = `["graph", "timeline"].every((id) => document.getElementById(id).dataset.frame)`

func (b *tab) eval(expression string, result any) {
	b.Helper()
	require.NoError(b.T, b.Eval(expression, result), expression)
}

func (b *tab) text(id string) (s string) {
	b.Helper()
	b.eval(fmt.Sprintf("document.getElementById(%q).innerText", id), &s)
	return s
}

func (b *tab) until(condition string) {
	b.Helper()
	require.NoError(b.T, b.Until(condition))
}

func (b *tab) keys(keys ...string) {
	b.Helper()
	for _, k := range keys {
		require.NoError(b.T, b.Key(k))
	}
}

// clickAt clicks where an expression says.
func (b *tab) clickAt(expression string, times int) {
	b.Helper()
	var at []float64
	b.eval(expression, &at)
	require.Len(b.T, at, 2, expression)
	require.NoError(b.T, b.Click(at[0], at[1], times))
}

// press clicks an element.
func (b *tab) press(selector string) {
	b.Helper()
	b.clickAt(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()", selector), 1)
}

// shoot returns the brightness of the page's corner, checks that the page is drawn in many colours, and keeps the picture
// with `go test -artifacts`.
func (b *tab) shoot(name string) (brightness float64) {
	b.Helper()
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", nil)
	text, err := b.Screenshot(false)
	require.NoError(b.T, err)
	require.NoError(b.T, os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), text, 0o644))
	img, err := png.Decode(bytes.NewReader(text))
	require.NoError(b.T, err)
	colours := map[color.Color]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			colours[img.At(x, y)] = true
		}
	}
	assert.Greater(b.T, len(colours), 100, "%s is nearly empty", name)
	grey := color.GrayModel.Convert(img.At(img.Bounds().Max.X-4, img.Bounds().Max.Y-4)).(color.Gray)
	return float64(grey.Y)
}

// clean checks that the page has made no request but for itself, and that no script has failed.
func (b *tab) clean() {
	b.Helper()
	messages := b.Messages()
	require.NotEmpty(b.T, messages)
	for _, m := range messages {
		assert.Regexp(b.T, `^request: (file:.*report\.html|blob:.*)$`, m)
	}
}

// TestReportInABrowser uses the report of a small program by mouse and keyboard.
func TestReportInABrowser(t *testing.T) {
	b := show(t, collect(t, img(t), "serial", "nimble"))
	assert.Contains(t, b.text("plans"), "nimble / graph")
	assert.Contains(t, b.text("verdict"), "nimble / graph is the quickest")
	assert.Contains(t, b.text("why"), "latency", "causes of the quickest plan")

	t.Run("click", func(t *testing.T) {
		b.clickAt("reprise.nodeAt(6)", 1)
		b.until("reprise.selection.op === 6")
		why := b.text("why")
		for _, part := range []string{"maximum", "%6", "img.go:", "Depends on", "memset:extrema", "raw|waw @extrema[0:4]", "Needed by", "In each plan", "lane"} {
			assert.Contains(t, why, part)
		}
		b.clickAt("reprise.edgeAt(reprise.data.edges.findIndex((e) => e.from === 1 && e.to === 4))", 1)
		b.until("reprise.selection.edge >= 0")
		why = b.text("why")
		for _, part := range []string{"gaussian_blur#1 → sobel#1", "raw", "reads what it wrote", "@blurred_small", "first line", "second line"} {
			assert.Contains(t, why, part)
		}
		b.clickAt("reprise.spanAt(1, 0)", 1)
		b.until("reprise.selection.op === reprise.data.plans[1].spans[0].op")
		b.press("#plans tbody tr:first-child input")
		b.until("reprise.selection.plan === 0")
	})
	t.Run("keyboard", func(t *testing.T) {
		b.eval("reprise.select({op: 1}); document.getElementById('graph').focus()", nil)
		b.keys("ArrowDown")
		b.until("reprise.selection.op === 4")
		b.keys("ArrowDown", "ArrowUp")
		b.until("[4, 10].includes(reprise.selection.op)")
		assert.NotEmpty(t, b.text("live"), "screen readers hear what is selected")
		b.keys("Escape")
		b.until("reprise.selection.op === -1")
		b.eval("document.getElementById('timeline').focus()", nil)
		b.keys("ArrowRight", "ArrowRight")
		b.until("reprise.selection.op === reprise.data.plans[0].spans[1].op")
		b.eval("document.getElementById('find').focus()", nil)
		b.keys("s", "o", "b", "e", "l")
		b.until("document.querySelectorAll('#found li').length === 2")
		b.keys("ArrowDown", "Enter")
		b.until("reprise.selection.op === 5")
	})
	t.Run("zoom", func(t *testing.T) {
		b.eval("reprise.before = reprise.scale()", nil)
		var at []float64
		b.eval("reprise.nodeAt(8)", &at)
		require.NoError(t, b.Wheel(at[0], at[1], -300, true))
		b.until("reprise.scale() > 1.2 * reprise.before")
		b.eval("document.getElementById('graph').focus()", nil)
		b.keys("0")
		b.until("Math.abs(reprise.scale() - reprise.before) < 1e-6")
		b.eval("document.getElementById('timeline').focus()", nil)
		b.keys("+", "+")
		b.until("reprise.range()[1] - reprise.range()[0] < reprise.data.plans[0].total / 2")
		b.press("#time-fit")
		b.until("reprise.range()[1] === Math.max(...reprise.data.plans.map((p) => p.total))")
	})
	t.Run("hover", func(t *testing.T) {
		var at []float64
		b.eval("(document.getElementById('timeline').scrollIntoView({block: 'nearest'}), reprise.spanAt(0, 2))", &at)
		require.NoError(t, b.Hover(at[0], at[1]))
		b.until("!document.getElementById('tip').hidden")
		assert.Contains(t, b.text("tip"), "bound by")
	})
	t.Run("light and dark", func(t *testing.T) {
		b.eval("reprise.choosePlan(1); reprise.select({op: 6}); scrollTo(0, 0)", nil)
		require.NoError(t, b.Prefer("dark"))
		b.until("document.documentElement.dataset.theme === 'dark'")
		assert.Less(t, b.shoot("img-dark"), 60.0)
		require.NoError(t, b.Prefer("light"))
		b.until("document.documentElement.dataset.theme === 'light'")
		assert.Greater(t, b.shoot("img-light"), 200.0)
		b.press("[data-theme-choice=dark]")
		b.until("document.documentElement.dataset.theme === 'dark'")
		b.keys("ArrowLeft") // the switch is a group of radio buttons
		b.until("document.documentElement.dataset.theme === 'light'")
	})
	t.Run("names", func(t *testing.T) {
		nodes, err := b.Accessible()
		require.NoError(t, err)
		focusable := 0
		for _, n := range nodes {
			if n.Focusable && n.Role != "RootWebArea" {
				focusable++
				assert.NotEmpty(t, strings.TrimSpace(n.Name), "an element of role %s has no name", n.Role)
			}
		}
		assert.Greater(t, focusable, 15)
	})
	b.clean()
}

// TestLargeReportInABrowser opens and closes groups of a program of 5 000 operations.
func TestLargeReportInABrowser(t *testing.T) {
	b := show(t, collect(t, blocks(125, 13), "nimble"))
	assert.Contains(t, b.text("graph-summary"), "5,000 operations")
	var shown int
	b.eval("new Set(reprise.data.operations.map((_, v) => String(reprise.nodeAt(v)))).size", &shown)
	assert.Less(t, shown, 150, "all groups are closed")
	b.shoot("large-light")
	require.NoError(t, b.Prefer("dark"))
	b.shoot("large-dark")

	// Enter opens the group under the keyboard. A worker places its nodes, while the page goes on.
	b.eval("document.getElementById('graph').focus(); reprise.select({group: 0}, 'test'); reprise.ticks = 0; setInterval(() => reprise.ticks++, 1)", nil)
	b.keys("ArrowDown", "Enter")
	b.until("document.getElementById('graph').dataset.state === 'ready' && reprise.nodeAt(0) && String(reprise.nodeAt(0)) !== String(reprise.nodeAt(1))")
	b.shoot("large-open")
	b.press("#open-all")
	b.until("String(reprise.nodeAt(4000)) !== String(reprise.nodeAt(4001))")
	b.shoot("large-all")
	var frame string
	b.eval("document.getElementById('graph').dataset.frame", &frame)
	t.Logf("a frame of all 5000 operations takes %s ms", frame)
	b.press("#close-all")
	b.until("String(reprise.nodeAt(0)) === String(reprise.nodeAt(1))")
	b.clean()
}
