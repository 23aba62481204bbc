package model_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/device/model"
)

// Example changes one figure of a profile. sim.Options.Profile accepts the result.
func Example() {
	builtIn, err := model.Lookup("h200")
	if err != nil {
		log.Fatal(err)
	}
	slow := *builtIn
	bandwidth := model.LookupFigure("memory_gbps")
	if err := bandwidth.Set(&slow, 2400); err != nil {
		log.Fatal(err)
	}
	fmt.Println(slow.Name, bandwidth.Of(builtIn), bandwidth.Of(&slow))
	// Output: NVIDIA H200 4800 2400
}
