package main

import (
	"log"

	"github.com/reprise-gpu/reprise/cluster"
)

// The result does not depend on the machine.
func Example() {
	main()
	for _, machine := range []string{"1x1", "4x1:v100", "h200-4"} {
		if err := cluster.Run(ctx, machine, cluster.Simulated, settle); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 2x2: 2 ranks x 2 devices: settled after 130 steps; 0.50 degrees in the middle
	// 1x1: 1 rank x 1 device: settled after 130 steps; 0.50 degrees in the middle
	// 4x1:v100: 4 ranks x 1 device: settled after 130 steps; 0.50 degrees in the middle
	// h200-4: 1 rank x 4 devices: settled after 130 steps; 0.50 degrees in the middle
}
