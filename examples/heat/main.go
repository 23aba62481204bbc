// Heat cools a square plate: it traces two steps of the two-dimensional heat
// equation once, with the plate ping-ponging between two buffers, and replays
// them until the plate has settled. The diffusion rate is a replay parameter,
// changed half way without tracing again. The result is checked against the
// same steps on the CPU.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"math"

	"github.com/reprise-gpu/reprise"
)

//go:embed heat.ptx
var heatPTX string

const (
	side    = 64
	replays = 100 // of two steps each
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() (err error) {
	dev, err := reprise.OpenChecked("sim") // a race is an error
	if err != nil {
		return err
	}
	defer dev.Close()

	// Trace. Nothing is declared: what the kernel reads and writes is inferred.
	t := reprise.Record(dev, "heat")
	step := t.Module("heat.ptx", heatPTX).Kernel("heat")
	u := t.Alloc("u", reprise.F32, side*side, reprise.InOut)
	v := t.Alloc("v", reprise.F32, side*side, reprise.Temporary)
	alpha := t.Param("alpha", reprise.F32, 0.2)
	shape := reprise.Square(side/8, 8)
	t.Launch(step, shape, u, v, alpha, side, side)
	t.Launch(step, shape, v, u, alpha, side, side)
	trace, err := t.Finish()
	if err != nil {
		return err
	}
	defer trace.Close()

	// Plan and instantiate.
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	if err != nil {
		return err
	}
	defer exec.Close()

	// Replay.
	plate := hotSquare()
	if err := reprise.Write(u, plate); err != nil {
		return err
	}
	start := dev.Now()
	if err := replayAll(exec); err != nil {
		return err
	}
	fmt.Printf("%d steps on %s in %.1f virtual us\n", 2*replays, dev.Info().Name, float64((dev.Now()-start).Nanoseconds())/1000)

	got := make([]float32, side*side)
	if err := reprise.Read(got, u); err != nil {
		return err
	}
	return check(got, plate)
}

// replayAll runs every replay, with a slower diffusion from the middle on.
func replayAll(exec *reprise.Exec) error {
	for i := range replays {
		if i == replays/2 {
			if err := exec.Set("alpha", 0.1); err != nil {
				return err
			}
		}
		if err := exec.Replay(context.Background()); err != nil {
			return err
		}
	}
	return exec.Wait(context.Background())
}

// hotSquare is a cold plate with a hot middle.
func hotSquare() []float32 {
	plate := make([]float32, side*side)
	for i := side / 4; i < 3*side/4; i++ {
		for j := side / 4; j < 3*side/4; j++ {
			plate[i*side+j] = 100
		}
	}
	return plate
}

// check compares the device's plate with the CPU's.
func check(got, plate []float32) error {
	u := make([]float64, len(plate))
	for i, x := range plate {
		u[i] = float64(x)
	}
	for i := range 2 * replays {
		alpha := 0.2
		if i >= replays {
			alpha = 0.1
		}
		u = diffuse(u, alpha)
	}
	worst := 0.0
	for i := range u {
		worst = math.Max(worst, math.Abs(float64(got[i])-u[i]))
	}
	if !(worst < 1e-3) {
		return fmt.Errorf("the plate differs from the CPU's by %g", worst)
	}
	fmt.Printf("centre at %.2f degrees, within %.0e of the CPU\n", got[side/2*side+side/2], worst)
	return nil
}

// diffuse is one step; the border is held fixed.
func diffuse(u []float64, alpha float64) []float64 {
	next := append([]float64(nil), u...)
	for i := 1; i < side-1; i++ {
		for j := 1; j < side-1; j++ {
			at := i*side + j
			next[at] += alpha * (u[at-side] + u[at+side] + u[at-1] + u[at+1] - 4*u[at])
		}
	}
	return next
}
