//go:build cuda && cgo

// Command libcudasim is the simulated CUDA driver as a C library. `make
// libcudasim` builds it as build/libcudasim.so, with the soname of the driver,
// libcuda.so.1, and links of that name. C and C++ programs of the driver API run on
// it, including programs that were built before:
//
//	cc -I cuda/include program.c -L build -lcuda -o program
//	LD_LIBRARY_PATH=build REPRISE_SIM=h200 ./program
package main

import "C"

import _ "github.com/reprise-gpu/reprise/cuda/simabi"

func main() {}
