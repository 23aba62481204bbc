package interp

import "testing"

// benchmarkKernel runs one launch per iteration and reports executed
// instructions of lanes per second.
func benchmarkKernel(b *testing.B, d *device, name string, l Launch) {
	k := d.kernel(name)
	b.ReportAllocs()
	var insts int64
	for b.Loop() {
		s, f := k.Run(d.mem, l)
		if f != nil {
			b.Fatal(f)
		}
		insts += s.LaneInsts
	}
	b.ReportMetric(float64(insts)/b.Elapsed().Seconds()/1e6, "Mlane-insts/s")
}

func BenchmarkAxpy(b *testing.B) {
	d := openKernels(b)
	const n = 1 << 20
	x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
	benchmarkKernel(b, d, "axpy", Launch{Grid: dims(n/256, 1, 1), Block: dims(256, 1, 1), Params: params(float32(1.5), x, y, int32(n))})
}

func BenchmarkSquareGridStride(b *testing.B) {
	d := openKernels(b)
	const n = 1 << 20
	x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
	benchmarkKernel(b, d, "square", Launch{Grid: dims(64, 1, 1), Block: dims(256, 1, 1), Params: params(x, y, int32(n))})
}

func BenchmarkBlur(b *testing.B) {
	d := openKernels(b)
	const side, diameter = 256, 5
	img, out := buffer(d, "image", random(side*side, 1)), buffer(d, "out", make([]float32, side*side))
	weights := buffer(d, "weights", random(diameter*diameter, 2))
	benchmarkKernel(b, d, "blur", Launch{Grid: dims(16, 16, 1), Block: dims(8, 8, 1), Shared: 4 * diameter * diameter,
		Params: params(img, out, int32(side), int32(side), weights, int32(diameter))})
}

func BenchmarkReduce(b *testing.B) {
	d := openKernels(b)
	const n = 1 << 20
	x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
	z := buffer(d, "z", make([]float32, 1))
	benchmarkKernel(b, d, "reduce", Launch{Grid: dims(64, 1, 1), Block: dims(256, 1, 1), Params: params(x, y, z, int32(n))})
}

func BenchmarkSmallLaunch(b *testing.B) {
	d := openKernels(b)
	const n = 256
	x, y := buffer(d, "x", random(n, 1)), buffer(d, "y", random(n, 2))
	benchmarkKernel(b, d, "axpy", Launch{Grid: dims(1, 1, 1), Block: dims(256, 1, 1), Params: params(float32(1.5), x, y, int32(n))})
}
