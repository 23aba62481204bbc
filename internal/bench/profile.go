package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/names"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// KernelProfile describes launches of one kernel with equal shapes and equal scalar arguments: their mean counts, and
// their mean time alone on a device.
type KernelProfile struct {
	Workload  string `json:"workload,omitempty"` // "" for a kernel outside of the workloads
	Size      int    `json:"size,omitempty"`
	Memory    string `json:"memory,omitempty"`
	Device    string `json:"device"`
	Simulated bool   `json:"simulated"`
	Sample    int64  `json:"sample,omitempty"` // blocks run per launch; if not 0, counts are scaled to the grid

	Kernel    string    `json:"kernel"`
	Numbers   []string  `json:"numbers,omitempty"` // scalar arguments
	Launches  int       `json:"launches"`          // per replay
	Grid      [3]uint32 `json:"grid"`
	Block     [3]uint32 `json:"block"`
	Registers int       `json:"registers"` // per thread: an estimate from PTX
	Shared    int       `json:"shared"`    // bytes per block, static and dynamic

	WarpInsts float64 `json:"warp_instructions"`
	LaneInsts float64 `json:"lane_instructions"`
	Flops     float64 `json:"flops"` // a fused multiply-add counts two
	L2Bytes   float64 `json:"l2_bytes"`
	DRAMBytes float64 `json:"dram_bytes"`
	LinkBytes float64 `json:"link_bytes"` // bytes of host memory

	BlocksPerSM int     `json:"blocks_per_sm"` // resident blocks per multiprocessor
	Occupancy   float64 `json:"occupancy"`     // fraction of the device's warps that the grid fills
	HeldBy      string  `json:"held_by"`       // what limits BlocksPerSM

	TimePS float64 `json:"time_ps"`
	Limit  string  `json:"limit"` // limit of most of that time
	Cause  string  `json:"limit_cause"`
}

// Profile replays a workload, one operation after another, on a simulated device and describes its kernels, in order
// of their first launch. A wrong result is an error, unless the device samples.
func Profile(ctx context.Context, dev *sim.Device, w *Workload, p Params) (rows []KernelProfile, err error) {
	in, err := w.New(dev, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	plan, err := in.Plan(dev, serial, graphexec.Streams)
	if err != nil {
		return nil, err
	}
	seen, err := watchReplay(ctx, dev, in, plan.Schedule, graphexec.Streams)
	if err == nil {
		err = in.right(dev)
	}
	if err != nil {
		return nil, err
	}
	for _, work := range seen.work {
		at, _, ok := names.Find(seen.of, work.Name)
		if work.Launched == nil || !ok { // the kernels that evaluate conditions are none of the program's
			continue
		}
		row := ProfileLaunch(dev, &work)
		row.Workload, row.Size, row.Memory = w.Name, p.Size, in.Params.Memory.String()
		row.Numbers = numbers(at.Schedule.Graph, at.Schedule.Graph.Ops[at.Op].Launch)
		rows = addLaunch(rows, row)
	}
	return rows, nil
}

// ProfileLaunch returns the profile of one launch in a time line of dev.
func ProfileLaunch(dev *sim.Device, w *sim.Work) KernelProfile {
	l := w.Launched
	return KernelProfile{
		Device: dev.Info().ID, Simulated: true, Sample: dev.Sample(),
		Kernel: l.Kernel, Launches: 1, Grid: l.Grid, Block: l.Block, Registers: l.Registers, Shared: l.Shared,
		WarpInsts: float64(l.WarpInsts), LaneInsts: float64(l.LaneInsts), Flops: float64(l.Flops),
		L2Bytes: l.L2Bytes, DRAMBytes: l.DRAMBytes, LinkBytes: l.LinkBytes,
		BlocksPerSM: l.PerSM, Occupancy: l.Warps, HeldBy: l.HeldBy,
		TimePS: float64(w.Took), Limit: w.Limit, Cause: w.Cause,
	}
}

// ProfileTimeline describes the kernels in dev's time line, in order of their first launch. It combines launches of
// equal kernel and shape.
func ProfileTimeline(dev *sim.Device) (rows []KernelProfile) {
	_, _, work := dev.Timeline()
	for i := range work {
		if work[i].Launched != nil {
			rows = addLaunch(rows, ProfileLaunch(dev, &work[i]))
		}
	}
	return rows
}

// numbers returns the scalar arguments of a launch.
func numbers(g *ir.Graph, l *ir.Launch) (list []string) {
	for _, a := range l.Args {
		switch a.Kind {
		case ir.ArgScalar:
			list = append(list, a.Scalar.String())
		case ir.ArgParam:
			list = append(list, g.Params[a.Param].Name)
		}
	}
	return list
}

// addLaunch adds a launch to the row of equal launches.
func addLaunch(rows []KernelProfile, l KernelProfile) []KernelProfile {
	i := slices.IndexFunc(rows, func(r KernelProfile) bool {
		return r.Kernel == l.Kernel && r.Grid == l.Grid && r.Block == l.Block && r.Shared == l.Shared && slices.Equal(r.Numbers, l.Numbers)
	})
	if i < 0 {
		return append(rows, l)
	}
	r := &rows[i]
	n := float64(r.Launches)
	mean := func(all *float64, one float64) { *all = (*all*n + one) / (n + 1) }
	mean(&r.WarpInsts, l.WarpInsts)
	mean(&r.LaneInsts, l.LaneInsts)
	mean(&r.Flops, l.Flops)
	mean(&r.L2Bytes, l.L2Bytes)
	mean(&r.DRAMBytes, l.DRAMBytes)
	mean(&r.LinkBytes, l.LinkBytes)
	mean(&r.TimePS, l.TimePS)
	r.Launches++
	return rows
}

// WriteProfile prints profiles of one device as a table.
func WriteProfile(w io.Writer, rows []KernelProfile) error {
	if len(rows) == 0 {
		return nil
	}
	link := slices.ContainsFunc(rows, func(r KernelProfile) bool { return r.LinkBytes > 0 })
	if n := rows[0].Sample; n > 0 {
		fmt.Fprintf(w, "%s, sampled: %d blocks per launch, counts scaled to the grid, no data computed\n", rows[0].Device, n)
	} else {
		fmt.Fprintf(w, "%s\n", rows[0].Device)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	heads := []string{"kernel", "runs", "grid", "block", "regs", "shared B", "warp insts", "lane insts", "L2 B", "DRAM B", "link B",
		"occupancy", "held by", "virtual us", "bound by", "flop/L2 B", "flop/DRAM B"}
	named := rows[0].Workload != ""
	if named {
		heads = append([]string{"workload", "size"}, heads...)
	}
	line := func(cells []string) {
		for i, cell := range cells {
			if heads[i] != "link B" || link {
				fmt.Fprintf(t, "%s\t", cell)
			}
		}
		fmt.Fprintln(t)
	}
	line(heads)
	for i := range rows {
		cells := rows[i].cells()
		if named {
			cells = append([]string{rows[i].Workload, sizeText(rows[i].Size)}, cells...)
		}
		line(cells)
	}
	return t.Flush()
}

func (r *KernelProfile) cells() []string {
	return []string{
		r.Kernel, fmt.Sprint(r.Launches), extents(r.Grid), extents(r.Block), fmt.Sprint(r.Registers), fmt.Sprint(r.Shared),
		short(r.WarpInsts), short(r.LaneInsts), short(r.L2Bytes), short(r.DRAMBytes), short(r.LinkBytes),
		fmt.Sprintf("%.3g%%", 100*r.Occupancy), r.HeldBy, fmt.Sprintf("%.2f", r.TimePS/1e6), r.Limit,
		ratio(r.Flops, r.L2Bytes), ratio(r.Flops, r.DRAMBytes),
	}
}

// extents formats the extents of a grid or block, "16x16", without trailing ones.
func extents(d [3]uint32) string {
	s := fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2])
	for strings.HasSuffix(s, "x1") {
		s = strings.TrimSuffix(s, "x1")
	}
	return s
}

// short formats a number with four digits and a unit.
func short(n float64) string {
	for _, unit := range []string{"", "k", "M", "G"} {
		if n < 9999.5 {
			if unit == "" {
				return fmt.Sprintf("%.0f", n)
			}
			return fmt.Sprintf("%.4g%s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.4gT", n)
}

func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", a/b)
}
