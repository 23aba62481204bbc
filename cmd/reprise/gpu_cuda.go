//go:build cuda

package main

import (
	"github.com/reprise-gpu/reprise/cuda"
	_ "github.com/reprise-gpu/reprise/cuda/simabi" // the driver, with REPRISE_LIBCUDA=sim
	"github.com/reprise-gpu/reprise/device"
)

// gpus describes the GPUs of this machine. The error explains why there is none.
func gpus() ([]device.Info, error) {
	n, err := cuda.Count()
	if err != nil {
		return nil, err
	}
	var list []device.Info
	for i := range n {
		info, err := cuda.Describe(i)
		if err != nil {
			return list, err
		}
		list = append(list, info)
	}
	return list, nil
}

// driver returns the state of the CUDA driver.
func driver() driverState {
	s := driverState{Built: true, Driver: driverFacts(cuda.Driver())}
	var err error
	if s.GPUs, err = gpus(); err != nil {
		s.Missing = err.Error()
	}
	for i := range s.GPUs {
		s.Closed = append(s.Closed, cuda.Prohibited(i))
	}
	return s
}
