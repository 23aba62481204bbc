// Kernels that decide what a graph runs; make ptx makes conditional.ptx of them. They
// are a module of their own, since a driver from before CUDA 12.4 cannot link it.

// The toolkits from 12.4 on declare it in cuda_device_runtime_api.h.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// condition = *value + bias
extern "C" __global__ void choose(unsigned long long condition, const unsigned *value, unsigned bias) {
  cudaGraphSetConditional(condition, *value + bias);
}

// The condition stays 1 for n calls and is 0 from then on.
extern "C" __global__ void countdown(unsigned long long condition, unsigned *n) {
  unsigned left = *n == 0 ? 0 : *n - 1;
  *n = left;
  cudaGraphSetConditional(condition, left != 0);
}

// The condition is 0 from the n-th call on, and before that what it was.
extern "C" __global__ void stop(unsigned long long condition, unsigned *n) {
  if (--*n == 0) cudaGraphSetConditional(condition, 0);
}

// The condition is 1 as long as the sum of v, which halves with each call, is not below limit.
extern "C" __global__ void halve(unsigned long long condition, float *v, float *sum, float limit) {
  __shared__ float part[256];
  unsigned i = threadIdx.x;
  v[i] *= 0.5f;
  part[i] = v[i];
  __syncthreads();
  for (unsigned n = blockDim.x / 2; n > 0; n /= 2) {
    if (i < n) part[i] += part[i + n];
    __syncthreads();
  }
  if (i == 0) {
    *sum = part[0];
    cudaGraphSetConditional(condition, part[0] >= limit);
  }
}
