package device_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

// ExampleDevice fills memory on a stream, and waits for it.
func ExampleDevice() {
	dev, err := sim.New(sim.Options{})
	check(err)
	defer dev.Close()
	memory, err := dev.Alloc(4)
	check(err)
	stream, err := dev.CreateStream(0)
	check(err)

	check(dev.Submit(stream, &device.Memset{Dst: memory, Value: 7, Width: 1, Count: 4})) // returns at once
	check(dev.Synchronize(stream))

	bytes := make([]byte, 4)
	check(dev.Read(bytes, memory))
	fmt.Println(bytes)
	// Output: [7 7 7 7]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
