// Kernels of the common shapes: what each does to its pointers is written beside it and checked by infer_test.go.
extern "C" {

__device__ int counter;
__constant__ float coef[4] = {1, 2, 3, 4};

// x read, y read, z write
__global__ void vadd(const float *x, const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

// x read, y readwrite
__global__ void saxpy_stride(float a, const float *x, float *y, long n) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

// x read, sum readwrite
__global__ void reduce(const float *x, float *sum, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, s);
}

// x read, m readwrite
__global__ void maxcas(const float *x, float *m) {
  int *p = (int *)m, old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(p, seen, __float_as_int(fmaxf(x[threadIdx.x], __int_as_float(seen))));
  } while (old != seen);
}

// x readwrite
__global__ void reverse_dynamic(float *x) {
  extern __shared__ float buf[];
  buf[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = buf[blockDim.x - 1 - threadIdx.x];
}

// in read, out write
__global__ void transpose(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// out write; reads coef, read-writes counter
__global__ void symbols(float *out) {
  out[threadIdx.x] = coef[threadIdx.x & 3];
  atomicAdd(&counter, 1);
}

// row, col, val, x read, y write
__global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int k = row[i]; k < row[i + 1]; k++) s += val[k] * x[col[k]];
  y[i] = s;
}

// bytes readwrite; offset is a 64-bit integer, no pointer
__global__ void bytes_at(char *bytes, size_t offset) { bytes[offset + threadIdx.x]++; }

// nothing is touched
__global__ void idle(float *x, int n) {}

// a, b read, out write
__global__ void dnorm(const double *a, const double *b, double *out) {
  int i = threadIdx.x;
  out[i] = sqrt(a[i] * a[i] + b[i] * b[i]) + exp(a[i]) * sin(b[i]);
}
}
