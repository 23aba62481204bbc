//go:build cuda

// Command libcudasim is the simulated CUDA driver as a C library. `make
// libcudasim` builds it as build/libcudasim.so, whose soname is libcuda.so.1, so
// a C or C++ program of the driver API runs on it:
//
//	cc -I cuda/include program.c build/libcudasim.so -Wl,-rpath,$PWD/build -o program
//	REPRISE_SIM=h200 ./program
//
// One that was linked before finds it by LD_LIBRARY_PATH, when a link named
// libcuda.so.1 leads to it.
package main

import "C"

import _ "github.com/reprise-gpu/reprise/cuda/simabi"

func main() {}
