// Tenants runs one program for three tenants. Each has weights of its own, and requests that wait at the same time run in
// one launch.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/tenant"
)

//go:embed layer.ptx
var layer string // y[i] = max(w[i]*x[i], 0), for i < n: what nvcc -ptx makes of layer.cu

const n = 1024

// network is the program of a tenant: it copies x to the device, computes y, and copies y back.
type network struct {
	trace *reprise.Trace
	x, y  reprise.Buffer // in pinned memory
}

func record(dev reprise.Device, name string, weight float32) network {
	t := reprise.Record(dev, name)
	x, y := t.AllocHost("x", reprise.F32, n, reprise.Input), t.AllocHost("y", reprise.F32, n, reprise.Output)
	w := t.Alloc("w", reprise.F32, n, reprise.Constant)
	in, out := t.Alloc("in", reprise.F32, n, reprise.Temporary), t.Alloc("out", reprise.F32, n, reprise.Temporary)
	t.Copy(in, x)
	t.Launch(t.Module("layer.ptx", layer).Kernel("layer"), reprise.Linear(n/256, 256), w, in, out, n)
	t.Copy(y, out)
	trace := must(t.Finish())
	check(reprise.Write(w, filled(weight)))
	return network{trace, x, y}
}

func main() {
	dev := must(reprise.Open("sim")) // a simulated H200; "gpu0" is a GPU
	defer dev.Close()
	pool := must(tenant.NewPool(dev, tenant.Options{}))
	var wait sync.WaitGroup
	for i, weight := range []float32{2, 3, -1} {
		var net network
		check(pool.Use(func(dev reprise.Device) error { // while a pool is open, only it may use the device
			net = record(dev, fmt.Sprint("tenant ", i), weight)
			return nil
		}))
		one := must(pool.Add(net.trace))
		wait.Go(func() { // one goroutine per caller
			y := filled(0)
			check(one.Do(context.Background(), tenant.Request{
				Deadline: 100 * time.Millisecond,
				Before:   func(*reprise.Trace) error { return reprise.Write(net.x, filled(5)) },
				After:    func(*reprise.Trace) error { return reprise.Read(y, net.y) },
			}))
			if want := max(5*weight, 0); y[n-1] != want {
				log.Fatalf("tenant %d: y is %v, want %v", i, y[n-1], want)
			}
		})
	}
	wait.Wait()
	fmt.Println(pool.Stats().Requests, "requests")
	check(pool.Close())
}

func filled(v float32) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = v
	}
	return data
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
