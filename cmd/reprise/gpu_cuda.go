//go:build cuda && cgo

package main

import (
	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/cuda"
	_ "github.com/reprise-gpu/reprise/cuda/simabi" // the driver, with REPRISE_LIBCUDA=sim
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// gpus describes the GPUs of this machine. The error explains why there is none.
func gpus() ([]device.Info, error) { return cuda.GPUs() }

// driver returns the state of the CUDA driver.
func driver() driverState {
	s := driverState{Built: true, Driver: findDriver()}
	var err error
	if s.GPUs, err = gpus(); err != nil {
		s.Missing = err.Error()
	}
	for i := range s.GPUs {
		s.Closed = append(s.Closed, prohibited(i))
	}
	return s
}

func findDriver() driverFacts {
	return driverFacts{
		Library: lazycuda.Provider(), Simulated: lazycuda.Simulated(), Problem: lazycuda.Problem(),
		Init: device.Code(lazycuda.InitResult()), Version: cu.Version(),
	}
}

// prohibited reports whether a GPU is in compute mode "prohibited".
func prohibited(ordinal int) bool {
	const prohibited = 2 // CU_COMPUTEMODE_PROHIBITED
	mode, err := cu.Device(ordinal).Attribute(cu.ComputeMode)
	return err == nil && mode == prohibited
}
