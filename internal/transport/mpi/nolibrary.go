//go:build !cuda && !mpi

package mpi

import "fmt"

func loadEngine() (engine, error) {
	return nil, fmt.Errorf("%w: this program was built without it: build with make build, or with go build -tags mpi, and a C compiler", ErrUnavailable)
}
