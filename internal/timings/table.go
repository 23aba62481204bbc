package timings

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/ir"
)

// Row is a line of a report: the times of an operation, of whole replays, or of the time between them. Times are in
// microseconds.
type Row struct {
	Program   string   `json:"program"`
	Device    string   `json:"device"`
	Simulated bool     `json:"simulated"`
	Node      *ir.OpID `json:"node,omitempty"`      // nil unless the row is of an operation
	Operation string   `json:"operation,omitempty"` // its name, as in package opname: the label, if it has one
	Kind      string   `json:"kind"`                // of the operation; "replay", "gap" or "arrival"
	Kernel    string   `json:"kernel,omitempty"`
	Grid      string   `json:"grid,omitempty"`
	Block     string   `json:"block,omitempty"`
	Count     int64    `json:"count"`
	Mean      float64  `json:"mean_us"`
	P10       float64  `json:"p10_us"`
	P50       float64  `json:"p50_us"`
	P99       float64  `json:"p99_us"`
	Blocks    uint64   `json:"blocks,omitempty"`
	Resident  int      `json:"resident,omitempty"`
	Bound     string   `json:"bound,omitempty"`
}

// Rows returns the times of a recorded program: its operations in program order, then replays, gaps and arrivals.
func (t *Timings) Rows(g *ir.Graph) (rows []Row) {
	p := t.programs[signature.Of(g)]
	if p == nil {
		return nil
	}
	row := func(kind string, times *Sketch) *Row {
		us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
		rows = append(rows, Row{
			Program: p.Name, Device: t.Device.ID, Simulated: t.Device.Simulated, Kind: kind, Count: times.Count(),
			Mean: us(times.Mean()), P10: us(times.Quantile(0.1)), P50: us(times.Quantile(0.5)), P99: us(times.Quantile(0.99)),
		})
		return &rows[len(rows)-1]
	}
	names := opname.Of(g)
	for _, v := range slices.Sorted(maps.Keys(p.Nodes)) {
		r := p.Nodes[v]
		line := row(r.Kind, r.Time)
		line.Node, line.Operation = &v, names.Of(v)
		if r.Kernel != (Kernel{}) {
			line.Kernel, line.Grid, line.Block = r.Kernel.Entry, short(r.Kernel.Grid), short(r.Kernel.Block)
			line.Blocks, line.Resident, line.Bound = r.Blocks, r.Resident, r.Bound.String()
		}
	}
	row("replay", p.Replays)
	for _, at := range slices.Sorted(maps.Keys(p.Gaps)) {
		row("gap", p.Gaps[at])
	}
	row("arrival", p.Arrivals)
	return rows
}

// short returns the text of an extent without the dimensions of 1 at its end.
func short(d ir.Dim3) string {
	text := fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z)
	return strings.TrimSuffix(strings.TrimSuffix(text, "x1"), "x1")
}

// WriteTable prints the rows of one program, of which there is at least one.
func WriteTable(to io.Writer, rows []Row) error {
	clock := "real"
	if rows[0].Simulated {
		clock = "virtual"
	}
	fmt.Fprintf(to, "%s on %s, in %s time\n\n", rows[0].Program, rows[0].Device, clock)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "operation\tkernel\tgrid\tp10 us\tp50 us\tp99 us\tblocks\tresident\tbound\t")
	for i := range rows {
		r := &rows[i]
		kernel := r.Kernel
		if kernel == "" {
			kernel = r.Kind
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Operation, kernel, r.Grid, r.time(r.P10), r.time(r.P50), r.time(r.P99), some(r.Blocks), some(uint64(r.Resident)), r.Bound)
	}
	return w.Flush()
}

// time returns the text of a time, and "-" if the row has no times.
func (r *Row) time(us float64) string {
	if r.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", us)
}

// some returns the text of a number, and "" for 0.
func some(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
