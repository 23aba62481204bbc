// Kernels of the conformance suite; make ptx makes kernels.ptx of them.

// dst[i] = a * src[i] + b: applied in a chain, the result tells the order.
extern "C" __global__ void affine(unsigned *dst, const unsigned *src, unsigned a, unsigned b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = a * src[i] + b;
}

// dst[i] = x[i] + y[i]
extern "C" __global__ void add(unsigned *dst, const unsigned *x, const unsigned *y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = x[i] + y[i];
}

// Stores one word far away from p; only thread 3 of block 2 does.
extern "C" __global__ void stray(unsigned *p, unsigned long long offset) {
  if (blockIdx.x == 2 && threadIdx.x == 3) p[offset] = 1;
}

// dst[i] = table[i % 4] + bias, which the host writes.
__constant__ unsigned table[4] = {10, 20, 30, 40};
__device__ unsigned bias;
extern "C" __global__ void lookup(unsigned *dst, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = table[i % 4] + bias;
}

// Block sums through static and dynamic shared memory.
extern "C" __global__ void blocksum(unsigned *dst, const unsigned *src) {
  extern __shared__ unsigned mine[];
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  mine[threadIdx.x] = src[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  atomicAdd(&total, mine[blockDim.x - 1 - threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) dst[blockIdx.x] = total;
}
