//go:build cuda

// Command libcudasim is the simulated CUDA driver as a C library: `make
// libcudasim` builds it as build/libcudasim.so, whose soname is libcuda.so.1, so
// that a C or C++ program of the driver API runs on it by its library path alone:
//
//	make libcudasim
//	cc -I cuda/include program.c -L build/sim -lcuda -o program
//	LD_LIBRARY_PATH=build/sim REPRISE_SIM=h200 ./program
package main

import _ "github.com/reprise-gpu/reprise/cuda/simabi"

func main() {}
