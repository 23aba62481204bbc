//go:build cuda && cgo

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

const kernels = "../../device/devicetest/kernels.ptx"

// TestGraphsTakeTheTimeOfTheSimulator runs random graphs through the driver's interface
// and directly on the simulator. Every step must take the same virtual time and compute the same results.
func TestGraphsTakeTheTimeOfTheSimulator(t *testing.T) {
	lib := buildLibrary(t)
	program := compileProgram(t, lib, "testdata/times/graph.c")
	for seed := range 20 {
		require.Equal(t, runGraph(t, uint64(seed)), run(t, lib, program, nil, kernels, fmt.Sprint(seed)), "seed %d", seed)
	}
}

// generator is the random number generator of testdata/times/graph.c.
type generator uint64

func (g *generator) draw(n uint32) uint32 {
	*g = *g*6364136223846793005 + 1442695040888963407
	return uint32(*g>>33) % n
}

// runGraph runs the same graph as testdata/times/graph.c, directly on the simulator.
func runGraph(t *testing.T, seed uint64) string {
	const words = 300
	ok := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	d, err := sim.New(sim.Options{Profile: "h200"})
	ok(err)
	text, err := os.ReadFile(kernels)
	ok(err)
	m, err := d.LoadModule("kernels.ptx", string(text))
	ok(err)
	affine, err := d.Function(m, "affine")
	ok(err)
	stream, err := d.CreateStream(0)
	ok(err)
	var buffer [4]device.Ptr
	for i := range buffer {
		buffer[i], err = d.Alloc(4 * words)
		ok(err)
		ok(d.Write(buffer[i], append([]byte{byte(i + 1)}, make([]byte, 4*words-1)...)))
	}

	var out strings.Builder
	start := d.Now()
	tell := func(what string) { fmt.Fprintf(&out, "%s %d\n", what, d.Now()-start) }
	launch := func(to, from device.Ptr, a, b uint32) *device.Launch {
		p := binary.LittleEndian.AppendUint64(nil, uint64(to))
		p = binary.LittleEndian.AppendUint64(p, uint64(from))
		for _, v := range []uint32{a, b, words} {
			p = binary.LittleEndian.AppendUint32(p, v)
		}
		return &device.Launch{Function: affine, Grid: device.Dim3{X: 5, Y: 1, Z: 1}, Block: device.Dim3{X: 64, Y: 1, Z: 1}, Params: p}
	}
	rng := generator(seed)
	g, err := d.CreateGraph()
	ok(err)
	tell("create")
	var nodes []device.Node
	var last device.Node
	for i := range 2 + rng.draw(20) {
		var deps []device.Node
		for k := range i {
			if k+1 == i || rng.draw(4) == 0 {
				deps = append(deps, nodes[k])
			}
		}
		to, from := buffer[rng.draw(4)], buffer[rng.draw(4)]
		a, b := rng.draw(5), rng.draw(5)
		kind := rng.draw(5)
		work := []device.Work{&device.Memset{Dst: to, Value: a, Width: 4, Count: words}, &device.Copy{Dst: to, Src: from, Bytes: 4 * words},
			device.Nothing{}, launch(to, from, a, b), launch(to, from, a, b)}[kind]
		n, err := d.AddNode(g, deps, work)
		ok(err)
		nodes = append(nodes, n)
		if kind > 2 {
			last = n
		}
	}
	tell("add")
	x, err := d.Instantiate(g)
	ok(err)
	tell("instantiate")
	for range 3 {
		ok(d.LaunchGraph(x, stream))
	}
	tell("launch")
	ok(d.Synchronize(stream))
	tell("synchronize")
	if last != 0 {
		ok(d.UpdateNode(x, last, launch(buffer[0], buffer[1], 2, 3)))
		tell("update")
		ok(d.LaunchGraph(x, stream))
		ok(d.Synchronize(stream))
		tell("again")
	}
	ok(d.DestroyGraphExec(x))
	ok(d.DestroyGraph(g))
	tell("destroy")
	for i, p := range buffer {
		b := make([]byte, 4*words)
		ok(d.Read(b, p))
		sum := uint32(0)
		for k := range words {
			sum = sum*31 + binary.LittleEndian.Uint32(b[4*k:])
		}
		fmt.Fprintf(&out, "buffer %d: %d\n", i, sum)
	}
	return out.String()
}
