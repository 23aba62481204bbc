package model_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/sim"
)

// Example changes one figure of a profile. sim.Options.Custom and optimizer.Options.Custom accept the result.
func Example() {
	dev, err := sim.New(sim.Options{Profile: "h200"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	builtIn := model.Of(dev)
	slow := *builtIn
	slow.MemoryGBps = 2400
	fmt.Println(slow.Name, builtIn.MemoryGBps, slow.MemoryGBps)
	// Output: NVIDIA H200 4800 2400
}
