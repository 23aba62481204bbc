//go:build cuda && cgo

package cuda_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/cuda"
)

// ExampleOpen opens the first GPU. With REPRISE_LIBCUDA=sim it opens a simulated one.
func ExampleOpen() {
	dev, err := cuda.Open(0)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	fmt.Println(dev.Info().Name)
}
