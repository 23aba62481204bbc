package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// kinds lists the figures of each memory mode.
var kinds = []struct {
	name string
	draw func([]compare.Comparison) *figure
}{
	{"speedup", speedup},
	{"ratio", ratio},
	{"overlap", overlapping},
	{"bound", bound},
}

// Write draws every figure of every memory mode into a directory, which it creates if necessary. It returns the
// paths: KIND-MODE.svg and .png.
func Write(dir string, all []compare.Comparison) (paths []string, err error) {
	if err := Folder(dir); err != nil {
		return nil, err
	}
	for _, mode := range modes(all) {
		for _, kind := range kinds {
			f := kind.draw(mode)
			if f == nil {
				continue
			}
			f.about = about(&mode[0])
			for _, format := range []string{"svg", "png"} {
				path := filepath.Join(dir, fmt.Sprintf("%s-%s.%s", kind.name, mode[0].Memory, format))
				if err := f.write(path, format); err != nil {
					return paths, err
				}
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// Folder creates a directory for figures. It returns an error if no file can be written there.
func Folder(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, "figure.*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return fmt.Errorf("cannot draw into %s: %w", dir, err)
	}
	return nil
}

// modes groups comparisons by memory mode.
func modes(all []compare.Comparison) (groups [][]compare.Comparison) {
	at := map[string]int{}
	for _, c := range all {
		i, ok := at[c.Memory]
		if !ok {
			i = len(groups)
			at[c.Memory] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// about describes the origin of the figures of a mode.
func about(c *compare.Comparison) string {
	where := c.Device
	if c.Simulated {
		where += ", simulated: virtual time"
	}
	if c.Sample > 0 {
		where += fmt.Sprintf(", %d blocks of each launch run", c.Sample)
	}
	return fmt.Sprintf("%s; memory mode %s", where, c.Memory)
}

// figure is rows of panels below a title and a legend.
type figure struct {
	title, about string
	legend       []entry
	panels       [][]*plot.Plot // rows of equal length; nil for an empty place
	width        vg.Length      // of one panel
	height       vg.Length      // of one panel; 0 is panelHeight
}

// entry is an entry of the legend.
type entry struct {
	name   string
	color  color.Color
	dashed bool // for the second line of a colour
}

const (
	panelHeight  = 5.2 * vg.Centimeter
	headerHeight = 1.7 * vg.Centimeter
	legendHeight = 4.5 * vg.Millimeter // of each additional line of the legend
	margin       = 3 * vg.Millimeter
	dpi          = 144
)

func (f *figure) write(path, format string) error {
	w, h := f.size()
	var canvas vg.CanvasWriterTo
	if format == "svg" {
		canvas = vgsvg.New(w, h)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	}
	f.draw(draw.NewCanvas(canvas, w, h))
	var image bytes.Buffer
	if _, err := canvas.WriteTo(&image); err != nil {
		return err
	}
	return replace(path, image.Bytes())
}

// replace writes a file atomically: an interrupted run leaves the old file.
func replace(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// size returns a size with room for all panels, the longest line of text and the legend.
func (f *figure) size() (w, h vg.Length) {
	w = f.width * vg.Length(len(f.panels[0]))
	for _, line := range f.lines() {
		w = max(w, line.style.Width(line.text))
	}
	tall := f.height
	if tall == 0 {
		tall = panelHeight
	}
	return w + 2*margin, tall*vg.Length(len(f.panels)) + f.above(w) + 2*margin
}

// above returns the height of the part above the panels.
func (f *figure) above(width vg.Length) vg.Length {
	return headerHeight + legendHeight*vg.Length(max(1, len(f.legendLines(width)))-1)
}

// line is a line of text above the panels.
type line struct {
	text  string
	style text.Style
}

func (f *figure) lines() []line {
	return []line{{f.title, letters(12, color.Black)}, {f.about, letters(9, gray)}}
}

func (f *figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	above := f.above(c.Size().X)
	f.header(draw.Crop(c, 0, 0, c.Size().Y-above, 0))
	tiles := draw.Tiles{Rows: len(f.panels), Cols: len(f.panels[0]), PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter}
	for r, row := range plot.Align(f.panels, tiles, draw.Crop(c, 0, 0, 0, -above)) {
		for i, at := range row {
			if p := f.panels[r][i]; p != nil {
				p.Draw(at)
			}
		}
	}
}

// header draws the title, the origin and the legend.
func (f *figure) header(c draw.Canvas) {
	y := c.Max.Y
	for _, line := range f.lines() {
		line.style.YAlign = draw.YTop
		c.FillText(line.style, vg.Point{X: c.Min.X, Y: y}, line.text)
		y -= line.style.Font.Size * 1.35
	}
	label := letters(9, color.Black)
	label.YAlign = draw.YCenter
	y -= 2 + box/2
	for _, line := range f.legendLines(c.Size().X) {
		x := c.Min.X
		for _, e := range line {
			e.mark(c, x, y)
			c.FillText(label, vg.Point{X: x + box + gap, Y: y}, e.name)
			x += e.width()
		}
		y -= legendHeight
	}
}

// An entry of a legend is a box, a gap and a name, in points.
const box, gap = 8, 4

// width returns the width of the entry and of the space after it.
func (e *entry) width() vg.Length { return box + gap + letters(9, color.Black).Width(e.name) + 4*gap }

// mark draws the box, in two parts for a dashed line.
func (e *entry) mark(c draw.Canvas, x, y vg.Length) {
	part := func(from, to vg.Length) {
		c.FillPolygon(e.color, []vg.Point{{X: x + from, Y: y - box/2}, {X: x + to, Y: y - box/2}, {X: x + to, Y: y + box/2}, {X: x + from, Y: y + box/2}})
	}
	if e.dashed {
		part(0, box*3/8)
		part(box*5/8, box)
		return
	}
	part(0, box)
}

// legendLines breaks the legend into lines of at most the given width.
func (f *figure) legendLines(width vg.Length) (lines [][]entry) {
	var x vg.Length
	for _, e := range f.legend {
		if x += e.width(); lines == nil || x-4*gap > width {
			lines, x = append(lines, nil), e.width()
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], e)
	}
	return lines
}

// letters is a sans-serif text style.
func letters(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
	}
}
