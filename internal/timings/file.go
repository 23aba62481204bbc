package timings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/ir"
)

// A file of timings is JSON. The times of a sketch are a text of buckets, the shortest time of each in ns and a number of
// times:
//
//	"ns": "2816*17 2832*3"
const (
	fileFormat  = "reprise-timings"
	fileVersion = 1
)

// Limits of a file. They bound the memory that a file needs, about 30 KB for each sketch.
const (
	maxFile     = 64 << 20 // bytes
	maxSketches = 1 << 14
	maxTimes    = 1 << 50 // of one sketch
	maxName     = 1 << 12 // bytes of a name
)

// fileText is the content of a file.
type fileText struct {
	Format   string        `json:"format"`
	Version  int           `json:"version"`
	Device   Device        `json:"device"`
	Date     string        `json:"date"`
	Programs []programText `json:"programs"`
}

type programText struct {
	Name      string         `json:"name"`
	Signature signature.Hash `json:"signature"`
	Replays   sketchText     `json:"replays_ns"`
	Arrivals  sketchText     `json:"arrivals_ns"`
	Gaps      []gapText      `json:"gaps"`
	Nodes     []nodeText     `json:"nodes"`
}

type gapText struct {
	Sync  int        `json:"sync"`
	Times sketchText `json:"ns"`
}

type nodeText struct {
	Op       ir.OpID     `json:"node"`
	Kind     string      `json:"kind"`
	Kernel   *kernelText `json:"kernel,omitempty"`
	Blocks   uint64      `json:"blocks,omitempty"`
	Resident int         `json:"resident,omitempty"`
	Bound    Bound       `json:"bound"`
	Times    sketchText  `json:"ns"`
}

type kernelText struct {
	Code   signature.Hash `json:"code"`
	Entry  string         `json:"entry"`
	Grid   extent         `json:"grid"`
	Block  extent         `json:"block"`
	Shared uint32         `json:"shared"`
}

// extent is the extent of a grid or a block. Its text is "4x1x1".
type extent ir.Dim3

func (e extent) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%dx%dx%d", e.X, e.Y, e.Z), nil
}

func (e *extent) UnmarshalText(text []byte) error {
	var read extent
	_, err := fmt.Sscanf(string(text), "%dx%dx%d", &read.X, &read.Y, &read.Z)
	if again, _ := read.MarshalText(); err != nil || !bytes.Equal(again, text) {
		return fmt.Errorf("the extent %.40q: write it as 4x1x1", text)
	}
	*e = read
	return nil
}

// sketchText is the text of a sketch, "" for an empty one.
type sketchText string

func (s *Sketch) text() sketchText {
	var b []byte
	for i, k := range s.buckets() {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, k.least, 10)
		b = append(b, '*')
		b = strconv.AppendInt(b, k.count, 10)
	}
	return sketchText(b)
}

// parse returns the sketch of a text. Times ascend.
func (text sketchText) parse() (*Sketch, error) {
	s := NewSketch()
	last := int64(-1)
	for word := range strings.FieldsSeq(string(text)) {
		least, count, ok := strings.Cut(word, "*")
		v, err := strconv.ParseInt(least, 10, 64)
		n, errN := strconv.ParseInt(count, 10, 64)
		switch {
		case !ok || err != nil || errN != nil || v <= last || v > MaxTime || n < 1 || n > maxTimes-s.Count():
			return nil, fmt.Errorf("times %.40q: write TIME*COUNT in ns, ascending to %d, with at most %d times in all", word, int64(MaxTime), int64(maxTimes))
		}
		if err := s.h.RecordValues(v, n); err != nil {
			return nil, err
		}
		last = v
	}
	return s, nil
}

// Text returns the content of the file. Parse is its inverse.
func (t *Timings) Text() ([]byte, error) {
	sketches := 0
	for _, p := range t.programs {
		sketches += sketchesOf(len(p.Gaps), len(p.Nodes))
	}
	if err := checkSketches(sketches); err != nil {
		return nil, err
	}
	f := fileText{Format: fileFormat, Version: fileVersion, Device: t.Device, Date: t.Date.Format(time.DateOnly), Programs: []programText{}}
	for _, s := range t.signatures() {
		f.Programs = append(f.Programs, t.programs[s].text(s))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(f)
	return b.Bytes(), err
}

// sketchesOf returns the number of sketches of a program.
func sketchesOf(gaps, nodes int) int { return 2 + gaps + nodes }

func checkSketches(n int) error {
	if n > maxSketches {
		return fmt.Errorf("a file with times of %d operations, replays and gaps: the limit is %d, so measure fewer programs into one file", n, maxSketches)
	}
	return nil
}

func (p *Program) text(s signature.Hash) programText {
	text := programText{Name: p.Name, Signature: s, Replays: p.Replays.text(), Arrivals: p.Arrivals.text(), Gaps: []gapText{}, Nodes: []nodeText{}}
	for _, at := range slices.Sorted(maps.Keys(p.Gaps)) {
		text.Gaps = append(text.Gaps, gapText{at, p.Gaps[at].text()})
	}
	for _, v := range slices.Sorted(maps.Keys(p.Nodes)) {
		r := p.Nodes[v]
		n := nodeText{Op: v, Kind: r.Kind, Blocks: r.Blocks, Resident: r.Resident, Bound: r.Bound, Times: r.Time.text()}
		if r.Kernel != (Kernel{}) {
			k := &r.Kernel
			n.Kernel = &kernelText{k.Code, k.Entry, extent(k.Grid), extent(k.Block), k.Shared}
		}
		text.Nodes = append(text.Nodes, n)
	}
	return text
}

// ReadFile reads a file of timings.
func ReadFile(path string) (*Timings, error) {
	data, err := bounded.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse returns the timings of a file's content. Errors name the file.
func Parse(name string, data []byte) (*Timings, error) {
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func parse(data []byte) (*Timings, error) {
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	var f fileText
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a file of timings: %w", err)
	}
	date, err := time.Parse(time.DateOnly, f.Date)
	if err != nil {
		return nil, fmt.Errorf("the date is %.20q: write it as 2026-01-31", f.Date)
	}
	sketches := 0
	for i := range f.Programs {
		sketches += sketchesOf(len(f.Programs[i].Gaps), len(f.Programs[i].Nodes))
	}
	if err := checkSketches(sketches); err != nil {
		return nil, err
	}
	if err := checkNames(f.Device.ID, f.Device.Name, f.Device.Driver); err != nil {
		return nil, err
	}
	t := New(f.Device, date)
	for i := range f.Programs {
		if err := t.read(&f.Programs[i]); err != nil {
			return nil, fmt.Errorf("program %.100q: %w", f.Programs[i].Name, err)
		}
	}
	return t, nil
}

// checkVersion checks the format and the version before anything else of a file, since other versions may have other
// fields.
func checkVersion(data []byte) error {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(data, &head); {
	case err != nil:
		return fmt.Errorf("not a file of timings: %w", err)
	case head.Format != fileFormat:
		return fmt.Errorf("the format is %.40q, and that of timings is %q: write the file with reprise measure", head.Format, fileFormat)
	case head.Version != fileVersion:
		return fmt.Errorf("version %d of timings: this release reads version %d, so measure again with reprise measure, into a new file", head.Version, fileVersion)
	}
	return nil
}

func checkNames(names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("a name has %d bytes, and the limit is %d: %.40q", len(name), maxName, name)
		}
	}
	return nil
}

// read adds a program of a file.
func (t *Timings) read(text *programText) (err error) {
	if t.programs[text.Signature] != nil {
		return errors.New("two programs have its signature: remove one")
	}
	if err := checkNames(text.Name); err != nil {
		return err
	}
	p := t.Add(text.Signature, text.Name)
	if p.Replays, err = text.Replays.parse(); err != nil {
		return err
	}
	if p.Arrivals, err = text.Arrivals.parse(); err != nil {
		return err
	}
	for _, g := range text.Gaps {
		if p.Gaps[g.Sync] != nil || g.Sync < 0 {
			return fmt.Errorf("sync point %d occurs twice, or is negative", g.Sync)
		}
		if p.Gaps[g.Sync], err = g.Times.parse(); err != nil {
			return err
		}
	}
	for i := range text.Nodes {
		if err := p.read(&text.Nodes[i]); err != nil {
			return fmt.Errorf("node %d: %w", text.Nodes[i].Op, err)
		}
	}
	return nil
}

// read adds a node of a file.
func (p *Program) read(text *nodeText) (err error) {
	if text.Op < 0 || p.Nodes[text.Op] != nil {
		return errors.New("it occurs twice, or is negative")
	}
	r := &Record{Kind: text.Kind, Blocks: text.Blocks, Resident: text.Resident, Bound: text.Bound}
	if k := text.Kernel; k != nil {
		r.Kernel = Kernel{k.Code, k.Entry, ir.Dim3(k.Grid), ir.Dim3(k.Block), k.Shared}
	}
	if err := checkNames(r.Kind, r.Kernel.Entry); err != nil {
		return err
	}
	if r.Resident < 0 {
		return fmt.Errorf("%d resident blocks: write 0 or more", r.Resident)
	}
	r.Time, err = text.Times.parse()
	p.Nodes[text.Op] = r
	return err
}
