package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/network"
	"github.com/reprise-gpu/reprise/internal/bench/taskgraph"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// input is a graph to plan for a device and a back end.
type input struct {
	name, group string
	streams     bool
	searched    bool // also compare auto with a search of ten times as many steps
	make        func() (*ir.Graph, optimizer.Options, error)
}

// inputs returns the whole corpus and the graphs of the files, each once for either back end.
func inputs(files []string) []input {
	var list []input
	for _, add := range []func() []input{drawn, contended, shaped, programs, networks, workloads} {
		list = append(list, add()...)
	}
	for _, path := range files {
		list = append(list, onDevice("files", strings.TrimSuffix(filepath.Base(path), ".rir"), "h200", fromFile(path)))
	}
	var both []input
	for _, in := range list {
		for _, streams := range []bool{false, true} {
			form := "graph"
			if streams {
				form = "streams"
			}
			one := in
			one.name, one.streams = in.name+"/"+form, streams
			both = append(both, one)
		}
	}
	return both
}

// onDevice returns an input whose costs follow from the device's profile alone.
func onDevice(group, name, device string, build func(p *model.Profile) (*ir.Graph, error)) input {
	return input{name: group + "/" + name + "/" + device, group: group, make: func() (*ir.Graph, optimizer.Options, error) {
		p, err := profiles.Lookup(device)
		if err != nil {
			return nil, optimizer.Options{}, err
		}
		g, err := build(p)
		return g, optimizer.Options{Custom: p}, err
	}}
}

func fromFile(path string) func(*model.Profile) (*ir.Graph, error) {
	return func(*model.Profile) (*ir.Graph, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read graph: %w", err)
		}
		f, err := ir.Load(path, string(text))
		if err != nil {
			return nil, err
		}
		return f.Graph, nil
	}
}

// members returns graphs of a family with about the given numbers of tasks, in ascending order. If the family has the
// same graph for two of these numbers, it is returned once.
func members(f taskgraph.Family, tasks ...int) (list []*taskgraph.Graph) {
	for _, n := range tasks {
		g := f.Draw(n, uint64(n))
		if len(list) == 0 || g.Len() > list[len(list)-1].Len() {
			list = append(list, g)
		}
	}
	return list
}

// drawn returns task graphs of operations that do not contend for the device, with units of 1 us and 20 us: shorter and
// longer than the cost of a launch.
func drawn() (list []input) {
	for _, f := range taskgraph.Families() {
		for _, g := range members(f, 12, 50, 200, 800) {
			for _, unit := range []time.Duration{time.Microsecond, 20 * time.Microsecond} {
				list = append(list, onDevice("tasks", fmt.Sprintf("%s-%v", g.Name, unit), "h200", func(*model.Profile) (*ir.Graph, error) {
					return g.Empty(unit), nil
				}))
			}
		}
	}
	return list
}

// contended returns programs of launches and copies that contend for the device. The search was tuned with other seeds.
func contended() (list []input) {
	for seed := range uint64(20) {
		in := onDevice("contended", fmt.Sprint(seed), "h200", func(*model.Profile) (*ir.Graph, error) {
			r := rand.New(rand.NewPCG(seed, 2000))
			return irtest.Contended(r, 12+r.IntN(49)), nil
		})
		in.searched = true
		list = append(list, in)
	}
	return list
}

// shaped returns programs in the shapes of well-known computations.
func shaped() (list []input) {
	for _, shape := range irtest.Shapes() {
		for seed := range uint64(4) {
			in := onDevice("shaped", fmt.Sprintf("%s-%d", shape, seed), "h200", func(*model.Profile) (*ir.Graph, error) {
				return irtest.Shaped(rand.New(rand.NewPCG(seed, 2001)), shape), nil
			})
			in.searched = true
			list = append(list, in)
		}
	}
	return list
}

// programs returns graphs of launches, of few blocks and of more blocks than fit on the device at a time.
func programs() (list []input) {
	for _, f := range taskgraph.Families() {
		for _, g := range members(f, 12, 30) {
			for _, blocks := range []int{16, 4096} {
				for _, device := range []string{"h200", "p100"} {
					list = append(list, onDevice("programs", fmt.Sprintf("%s-%dblocks", g.Name, blocks), device, func(*model.Profile) (*ir.Graph, error) {
						return g.Launches(blocks), nil
					}))
				}
			}
		}
	}
	return list
}

func networks() (list []input) {
	for _, n := range network.Networks() {
		for _, device := range []string{"h200", "v100"} {
			list = append(list, onDevice("networks", n.Name, device, func(p *model.Profile) (*ir.Graph, error) {
				return network.Build(n.Name, p)
			}))
		}
	}
	return list
}

func workloads() (list []input) {
	for _, w := range bench.Workloads() {
		for _, p := range profiles.All() {
			for _, memory := range []bench.Memory{bench.Pinned, bench.Prefetch, bench.Managed} {
				for _, size := range []int{w.Tiny, w.Sizes[0]} {
					name := fmt.Sprintf("workloads/%s-%d/%v/%s", w.Name, size, memory, p.ID)
					list = append(list, input{name: name, group: "workloads", make: func() (*ir.Graph, optimizer.Options, error) {
						return measured(w, p, bench.Params{Size: size, Memory: memory, Sampled: true})
					}})
				}
			}
		}
	}
	return list
}

// measured traces a workload on a simulated device and measures the demand of its launches.
func measured(w *bench.Workload, p *model.Profile, params bench.Params) (_ *ir.Graph, opts optimizer.Options, err error) {
	dev, err := sim.New(sim.Options{Custom: p, Sample: 16})
	if err != nil {
		return nil, opts, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if params.Memory.Fits(dev.Info()) != nil {
		params.Memory = bench.Managed // the device has no prefetches: use managed memory without them
	}
	in, err := w.New(dev, params)
	if err != nil {
		return nil, opts, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Measure(context.Background(), dev); err != nil {
		return nil, opts, err
	}
	return in.Trace.Graph, optimizer.Options{Custom: p, Costs: costmodel.Measured(p, in.Measured)}, nil
}
