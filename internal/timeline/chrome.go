package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// The Chrome trace-event format (Trace Event Format, Google 2016), which ui.perfetto.dev opens. A process is a group of
// rows, a thread is a row:
//
//	process            threads or counters
//	1 lanes            one for each lane, of the schedule and of each body; flow arrows for waits
//	2 critical path    one
//	3 copy engines     one for each direction
//	4 device           counters of resident warps, multiprocessors, bandwidth
const (
	lanesProcess = 1 + iota
	pathProcess
	enginesProcess
	deviceProcess
)

// event is one element of traceEvents.
type event struct {
	Name  string  `json:"name"`
	Cat   string  `json:"cat,omitempty"`
	Phase string  `json:"ph"`
	At    *micros `json:"ts,omitempty"`
	Took  *micros `json:"dur,omitempty"`
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	ID    int     `json:"id,omitempty"` // of a flow
	Bind  string  `json:"bp,omitempty"` // "e" binds the end of a flow to the enclosing slice
	Args  any     `json:"args,omitempty"`
}

// micros is a time in ps that is written in microseconds.
type micros int64

func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%06d", int64(m)/1e6, int64(m)%1e6), nil
}

// WriteChrome writes a timeline in the Chrome trace-event format. The times are in microseconds.
func (t *Timeline) WriteChrome(w io.Writer) error {
	c := &chrome{Timeline: t, rows: t.Rows()}
	c.describe()
	c.spans()
	c.path()
	c.flows()
	c.counters()
	return c.write(w)
}

// chrome collects the events of a timeline.
type chrome struct {
	*Timeline
	rows   []Row
	events []event
}

func (c *chrome) add(e event) { c.events = append(c.events, e) }

// header is what the file holds beside the events.
type header struct {
	Program     string  `json:"program"`
	Device      string  `json:"device"`
	Source      Source  `json:"source"`
	Strategy    string  `json:"strategy"`
	Backend     string  `json:"backend"`
	TotalUS     micros  `json:"total_us"`
	Uncertainty float64 `json:"uncertainty,omitempty"`
}

// Chrome is the form of the file that WriteChrome writes.
type Chrome struct {
	Unit   string  `json:"displayTimeUnit"` // "ns"
	Header header  `json:"otherData"`
	Events []event `json:"traceEvents"`
}

// write writes one event per line.
func (c *chrome) write(w io.Writer) error {
	head, err := json.Marshal(header{c.Program, c.Device, c.Source, c.Strategy, c.Backend, micros(c.Total), rounded(c.Uncertainty)})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"displayTimeUnit\": \"ns\",\n\"otherData\": %s,\n\"traceEvents\": [", head)
	for i := range c.events {
		line, err := json.Marshal(&c.events[i])
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// describe names the processes and the threads.
func (c *chrome) describe() {
	c.name("process_name", lanesProcess, 0, fmt.Sprintf("lanes of %s, %s/%s on %s", c.Program, c.Strategy, c.Backend, c.Device))
	for i, r := range c.rows {
		c.name("thread_name", lanesProcess, i+1, r.Title())
	}
	if len(c.Steps) > 0 {
		c.name("process_name", pathProcess, 0, "critical path")
		c.name("thread_name", pathProcess, 1, "critical path")
	}
	if c.uses(CopyIn) || c.uses(CopyOut) {
		c.name("process_name", enginesProcess, 0, "copy engines")
	}
	for _, e := range []Engine{CopyIn, CopyOut} {
		if c.uses(e) {
			c.name("thread_name", enginesProcess, int(e), e.String())
		}
	}
	if len(c.Usage) > 0 {
		c.name("process_name", deviceProcess, 0, "device")
	}
}

func (c *chrome) name(what string, pid, tid int, name string) {
	c.add(event{Name: what, Phase: "M", PID: pid, TID: tid, Args: map[string]string{"name": name}})
	if what == "process_name" {
		c.add(event{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]int{"sort_index": pid}})
	}
}

// uses reports whether the timeline shows an engine. Times from events do not tell when an engine served a copy.
func (c *chrome) uses(e Engine) bool {
	if c.Source == Events {
		return false
	}
	for i := range c.Spans {
		if c.Spans[i].Engine == e {
			return true
		}
	}
	return false
}

// spans adds a slice for each span to its lane, and for a copy over the link another one to its engine.
func (c *chrome) spans() {
	for tid, r := range c.rows {
		for _, i := range r.Spans {
			s := &c.Spans[i]
			slice := event{Name: s.Title(), Cat: s.Of().Kind.String(), Phase: "X", At: at(s.Begin), Took: at(s.End - s.Begin), PID: lanesProcess, TID: tid + 1, Args: c.arguments(s)}
			c.add(slice)
			if (s.Engine == CopyIn || s.Engine == CopyOut) && c.uses(s.Engine) {
				slice.PID, slice.TID, slice.Args = enginesProcess, int(s.Engine), map[string]string{"operation": s.Number()}
				c.add(slice)
			}
		}
	}
}

// path adds the critical path: a slice for each operation on it, and for each gap.
func (c *chrome) path() {
	for i := 0; i < len(c.Steps); {
		first := c.Steps[i]
		spent, took := map[string]micros{}, int64(0)
		for ; i < len(c.Steps) && c.Steps[i].Span == first.Span && c.Steps[i].Before == first.Before && (first.Span >= 0 || took == 0); i++ {
			spent[c.Steps[i].Limit] += micros(c.Steps[i].Took)
			took += c.Steps[i].Took
		}
		slice := event{Name: first.Limit, Cat: first.Cause, Phase: "X", At: at(first.Begin), Took: at(took), PID: pathProcess, TID: 1}
		if first.Span >= 0 && !first.Before {
			slice.Name, slice.Cat = c.Spans[first.Span].Title(), "operation"
			slice.Args = map[string]map[string]micros{"spent_us": spent}
		}
		c.add(slice)
	}
}

// flows adds an arrow for each wait, from the end of a slice to the beginning of another one. The format binds each end to
// the slice that encloses it.
func (c *chrome) flows() {
	row := make([]int, len(c.Spans))
	for tid, r := range c.rows {
		for _, i := range r.Spans {
			row[i] = tid + 1
		}
	}
	for id, w := range c.Waits() {
		from, to := &c.Spans[w.From], &c.Spans[w.To]
		why, cat := c.reason(w), "wait"
		if w.Delay {
			cat = "delay"
		}
		c.add(event{Name: "wait", Cat: cat, Phase: "s", At: at(max(from.Begin, from.End-1000)), PID: lanesProcess, TID: row[w.From], ID: id + 1, Args: why})
		c.add(event{Name: "wait", Cat: cat, Phase: "f", At: at(to.Begin), PID: lanesProcess, TID: row[w.To], ID: id + 1, Bind: "e"})
	}
}

// counters adds the use of the device. A viewer draws a counter as steps.
func (c *chrome) counters() {
	use := c.Usage
	if len(use) > 0 && use[0].At > 0 {
		use = append([]sim.Usage{{}}, use...) // idle from the start
	}
	for _, u := range use {
		c.counter("resident warps, %", u.At, "warps", 100*u.Warps)
		c.counter("multiprocessors in use, %", u.At, "multiprocessors", 100*u.Multiprocessors)
		c.counter("DRAM, GB/s", u.At, "dram", u.DRAM/1e9)
		c.counter("L2, GB/s", u.At, "l2", u.L2/1e9)
		c.counter("link to the device, GB/s", u.At, "in", u.LinkIn/1e9)
		c.counter("link to the host, GB/s", u.At, "out", u.LinkOut/1e9)
	}
}

func (c *chrome) counter(name string, t int64, series string, value float64) {
	c.add(event{Name: name, Phase: "C", At: at(t), PID: deviceProcess, Args: map[string]float64{series: rounded(value)}})
}

// rounded rounds to four decimals.
func rounded(v float64) float64 { return math.Round(1e4*v) / 1e4 }

func at(ps int64) *micros {
	m := micros(ps)
	return &m
}
