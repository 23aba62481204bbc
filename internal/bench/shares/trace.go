package shares

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Trace is a list of kernels that run one after another.
type Trace struct {
	Name    string
	Kernels []Kernel
}

// Kernel is a launch in a trace.
type Kernel struct {
	Name      string
	Blocks    uint32 // 0 if unknown
	Threads   uint32 // of a block, 0 if unknown
	Registers uint32 // of a thread, 0 if unknown
	Shared    uint32 // bytes of a block
	Time      time.Duration
	Bound     sharing.Bound
	// Gap is the time that the host works after the kernel, before it launches the next one. It waits for the kernel
	// before that. 0 means that the next kernel is launched without waiting.
	Gap time.Duration
}

// The columns of a trace.
const traceHeader = "name,blocks,threads,registers,shared,us,bound,gap_us"

// The limits of a trace.
const (
	maxTraceBytes  = 16 << 20
	maxTraceRows   = 1 << 16
	maxTraceName   = 512
	maxBlocks      = 1<<31 - 1
	maxThreads     = 1024
	maxRegisters   = 255
	maxSharedBytes = 227 << 10
	maxKernelUS    = 1e6
	maxGapUS       = 1e7
)

// ReadTrace reads a trace: a heading, and a line for each kernel. Cells may be empty, except for the time. name is that
// of the file, for errors.
func ReadTrace(name string, r io.Reader) (*Trace, error) {
	bounded := &io.LimitedReader{R: r, N: maxTraceBytes + 1}
	lines := csv.NewReader(bounded)
	lines.FieldsPerRecord = -1
	lines.ReuseRecord = true
	t := &Trace{Name: name}
	for n := 0; ; n++ {
		cells, err := lines.Read()
		switch {
		case bounded.N <= 0:
			return nil, fmt.Errorf("%s: a trace has at most %d MiB: use an excerpt", name, maxTraceBytes>>20)
		case errors.Is(err, io.EOF):
			if len(t.Kernels) == 0 {
				return nil, fmt.Errorf("%s: no kernels: write the heading %s and a line for each kernel", name, traceHeader)
			}
			return t, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := lines.FieldPos(0)
		if n == 0 {
			if got := strings.Join(trimmed(cells), ","); got != traceHeader {
				return nil, fmt.Errorf("%s:%d: heading %.80q: write %s", name, line, got, traceHeader)
			}
			continue
		}
		k, err := parseKernel(trimmed(cells))
		if err == nil && len(t.Kernels) == maxTraceRows {
			err = fmt.Errorf("a trace has at most %d kernels: use an excerpt", maxTraceRows)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		t.Kernels = append(t.Kernels, k)
	}
}

func trimmed(cells []string) []string {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// parseKernel parses the cells of a line.
func parseKernel(cells []string) (k Kernel, err error) {
	if want := strings.Count(traceHeader, ",") + 1; len(cells) != want {
		return k, fmt.Errorf("%d cells: write %d, some of which may be empty: %s", len(cells), want, traceHeader)
	}
	if k.Name = strings.Clone(cells[0]); len(k.Name) > maxTraceName {
		return k, fmt.Errorf("a name of %d bytes: write at most %d", len(k.Name), maxTraceName)
	}
	for _, c := range []struct {
		column string
		text   string
		most   uint64
		to     *uint32
	}{{"blocks", cells[1], maxBlocks, &k.Blocks}, {"threads", cells[2], maxThreads, &k.Threads}, {"registers", cells[3], maxRegisters, &k.Registers}, {"shared", cells[4], maxSharedBytes, &k.Shared}} {
		if *c.to, err = parseCount(c.column, c.text, c.most); err != nil {
			return k, err
		}
	}
	if k.Time, err = parseMicros("us", cells[5], maxKernelUS); err == nil && k.Time <= 0 {
		err = fmt.Errorf("us %q: write the time of the kernel in microseconds, as in 12.5", cells[5])
	}
	if err != nil {
		return k, err
	}
	if k.Bound, err = parseBound(cells[6]); err != nil {
		return k, err
	}
	k.Gap, err = parseMicros("gap_us", cells[7], maxGapUS)
	return k, err
}

// parseCount parses a number from 0 to most. An empty cell is 0.
func parseCount(column, text string, most uint64) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s %.40q: write a number from 0 to %d", column, text, most)
	}
	return uint32(n), nil
}

// parseMicros parses a time from 0 to most us. An empty cell is 0.
func parseMicros(column, text string, most float64) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	us, err := strconv.ParseFloat(text, 64)
	if err != nil || !(us >= 0 && us <= most) {
		return 0, fmt.Errorf("%s %.40q: write microseconds, from 0 to %.0f", column, text, most)
	}
	return time.Duration(us * 1000), nil
}

func parseBound(text string) (sharing.Bound, error) {
	switch text {
	case "", "unknown":
		return sharing.Unknown, nil
	case "compute":
		return sharing.Compute, nil
	case "memory":
		return sharing.Memory, nil
	}
	return 0, fmt.Errorf("bound %.40q: write compute, memory or unknown", text)
}

// Time returns the sum of the times of the kernels.
func (t *Trace) Time() (sum time.Duration) {
	for i := range t.Kernels {
		sum += t.Kernels[i].Time
	}
	return sum
}

// Eager returns the trace with synchronous issue: the host waits for each kernel and then takes a time to launch the
// next. Longer gaps remain.
func (t *Trace) Eager(issue time.Duration) *Trace {
	e := &Trace{Name: t.Name + "-eager", Kernels: append([]Kernel(nil), t.Kernels...)}
	for i := range e.Kernels {
		e.Kernels[i].Gap = max(e.Kernels[i].Gap, issue)
	}
	return e
}

// Synced returns the trace with a gap after every n kernels and at its end: the host waits there and works for that
// time. The trace has no other gaps.
func (t *Trace) Synced(n int, gap time.Duration) *Trace {
	s := &Trace{Name: t.Name, Kernels: append([]Kernel(nil), t.Kernels...)}
	for i := range s.Kernels {
		s.Kernels[i].Gap = 0
		if (i+1)%n == 0 || i+1 == len(s.Kernels) {
			s.Kernels[i].Gap = gap
		}
	}
	return s
}
