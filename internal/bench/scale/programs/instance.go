package programs

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Instance is a program that has been recorded.
type Instance struct {
	Steps  int           // of the method, in one replay
	Scalar tracer.Buffer // one F64 that a loop can test after a replay; zero if there is none

	contents []contents
	results  []result
	// expect returns the contents of the results after a number of replays, at least 1.
	expect func(replays int) [][]float64
}

// contents are a buffer and what it contains before the first replay.
type contents struct {
	buffer tracer.Buffer
	data   func() []byte
}

// result is a buffer that is compared with the CPU reference. The tolerance is relative to its greatest magnitude.
type result struct {
	buffer    tracer.Buffer
	tolerance float64
}

// Start passes each buffer with the contents that it has before the first replay to write, such as tracer.Write[byte]. They
// are the same in every call. What the program writes before it reads starts as NaN. Temporaries are left out.
func (in *Instance) Start(write func(b tracer.Buffer, contents []byte) error) error {
	for _, c := range in.contents {
		if err := write(c.buffer, c.data()); err != nil {
			return err
		}
	}
	return nil
}

// Results lists the buffers that Check compares.
func (in *Instance) Results() []tracer.Buffer {
	list := make([]tracer.Buffer, len(in.results))
	for i, r := range in.results {
		list[i] = r.buffer
	}
	return list
}

// Check compares the results after a number of replays from the start with the CPU reference. read returns the contents
// of a buffer, such as tracer.Read[byte]. The error of a result is relative to its greatest magnitude; Check returns the
// greatest, and an error if one is above its tolerance.
func (in *Instance) Check(replays int, read func(contents []byte, b tracer.Buffer) error) (maxError float64, err error) {
	for i, want := range in.expect(replays) {
		r := &in.results[i]
		contents := make([]byte, r.buffer.Bytes())
		if err := read(contents, r.buffer); err != nil {
			return maxError, err
		}
		relative, err := r.compare(contents, want)
		maxError = max(maxError, relative)
		if err != nil {
			return maxError, fmt.Errorf("after %d replays: %w", replays, err)
		}
	}
	return maxError, nil
}

func (r *result) compare(contents []byte, want []float64) (relative float64, err error) {
	b := r.buffer.Declaration()
	if b.Elem == ir.F64 {
		return compared(b.Name, numbers[float64](contents), want, r.tolerance)
	}
	return compared(b.Name, numbers[float32](contents), want, r.tolerance)
}

func compared[T reference.Real](name string, got []T, want []float64, tolerance float64) (relative float64, err error) {
	magnitude := math.SmallestNonzeroFloat64
	for _, w := range want {
		magnitude = max(magnitude, math.Abs(w))
	}
	diff, _ := reference.MaxAbsDiff(got, want)
	return diff / magnitude, reference.Compare(name, got, want, tolerance*magnitude)
}

// numbers returns a copy of the contents of a buffer.
func numbers[T tracer.Element](contents []byte) []T {
	list := make([]T, len(contents)/int(unsafe.Sizeof(*new(T))))
	copy(raw(list), contents)
	return list
}

// raw returns the memory of a slice of numbers.
func raw[T tracer.Element](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(*new(T))))
}

// starts adds a buffer with contents.
func starts[T tracer.Element](in *Instance, b tracer.Buffer, data func() []T) {
	in.contents = append(in.contents, contents{b, func() []byte { return raw(data()) }})
}

// compares adds a buffer to the results.
func (in *Instance) compares(b tracer.Buffer, tolerance float64) {
	in.results = append(in.results, result{b, tolerance})
}

// writes adds a buffer to the results that is written before it is read: it starts as NaN.
func (in *Instance) writes(b tracer.Buffer, tolerance float64) {
	in.contents = append(in.contents, contents{b, func() []byte { return bytes.Repeat([]byte{0xff}, int(b.Bytes())) }})
	in.compares(b, tolerance)
}

// wide converts an array for a reference.
func wide(list []float32) []float64 {
	w := make([]float64, len(list))
	for i, v := range list {
		w[i] = float64(v)
	}
	return w
}

// plane is the shape of a launch with a thread for each element of rows x cols, in blocks of 64 x 4 threads.
func plane(rows, cols int) tracer.Shape {
	return tracer.Shape{Grid: ir.Dim3{X: blocks(cols, 64), Y: blocks(rows, 4), Z: 1}, Block: ir.Dim3{X: 64, Y: 4, Z: 1}}
}

// blocks is the number of blocks with that many threads that cover an extent.
func blocks(extent, threads int) uint32 { return uint32((extent + threads - 1) / threads) }

// product is the number of elements of an array with these extents.
func product(extents ...int) float64 {
	n := 1.0
	for _, e := range extents {
		n *= float64(e)
	}
	return n
}
