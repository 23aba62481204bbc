// The end of a round of the loop in cg.cpp; make ptx makes go_on.ptx of it. It is a module of its
// own, since a driver from before CUDA 12.4 cannot link it.

// The toolkits from 12.4 on declare it in cuda_device_runtime_api.h.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// go_on: the loop goes on while the solver has come to nothing; the condition is 1 from the launch on.
extern "C" __global__ void go_on(unsigned long long condition, const int *state) {
  if (state[0] != 0) cudaGraphSetConditional(condition, 0);
}
