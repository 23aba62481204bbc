// Kernels whose pointers take detours.
#include <cuda_fp16.h>
#include <cstdio>

struct Span {
  const float *in;
  int n;
  float *out;
};
struct Node {
  Node *next;
  int value;
};
__device__ __noinline__ void bump(float *p, const float *q) { *p += *q; }
__device__ __noinline__ float *pick(float *a, float *b, int i) { return i & 1 ? a + i : b + i; }
__device__ float *hidden;
typedef void (*Op)(float *);
__device__ void one(float *p) { *p = 1; }
__device__ void two(float *p) { *p = 2; }
__device__ Op ops[2] = {one, two};

extern "C" {

// s.in (byte 0) read, s.out (byte 16) write
__global__ void by_struct(Span s) {
  if (threadIdx.x < s.n) s.out[threadIdx.x] = s.in[threadIdx.x] * 2;
}

// a, b write
__global__ void either(float *a, float *b, int which) {
  float *p = which ? a : b;
  p[threadIdx.x] = 1;
}

// a, b readwrite: swapped in a loop
__global__ void pingpong(float *a, float *b, int steps) {
  for (int s = 0; s < steps; s++) {
    a[threadIdx.x] = b[threadIdx.x + 1];
    float *t = a; a = b; b = t;
    __syncthreads();
  }
}

// a write, b none: a goes through shared memory, which is followed
__global__ void through_shared(float *a, float *b) {
  __shared__ float *slot[2];
  if (threadIdx.x == 0) slot[b == nullptr] = a;
  __syncthreads();
  *slot[threadIdx.x & 1] = 1;
}

// table read, and the kernel is opaque: the pointers in it may go anywhere
__global__ void pointer_table(float **table, float *x) { *table[threadIdx.x] = x[threadIdx.x]; }

// list is read, and opaque
__global__ void list_sum(Node *list, int *sum) {
  int s = 0;
  for (; list; list = list->next) s += list->value;
  *sum = s;
}

// slot write; x is stored there, not accessed
__global__ void park(float **slot, float *x) { slot[threadIdx.x] = x; }

// opaque: through a module variable
__global__ void through_global(float *x) { hidden[threadIdx.x] = x[threadIdx.x]; }

// p readwrite, q read
__global__ void by_call(float *p, const float *q) { bump(p + threadIdx.x, q + threadIdx.x); }

// a, b write
__global__ void by_result(float *a, float *b, int i) { *pick(a, b, i) = 3; }

// x write, by either function of the table
__global__ void indirect(float *x, int i) { ops[i](x); }

// x read
__global__ void print(const float *x) { printf("%d %f\n", threadIdx.x, x[threadIdx.x]); }

// x readwrite, with an array in local memory
__global__ void local_array(float *x, int k) {
  float a[16];
  for (int i = 0; i < 16; i++) a[i] = x[i];
  x[k] = a[k & 15] + a[(k * 7) & 15];
}

// a readwrite, b read
__global__ void halves(__half2 *a, const __half2 *b) {
  a[threadIdx.x] = __hfma2(a[threadIdx.x], b[threadIdx.x], b[0]);
}

// x readwrite: the address is aligned down
__global__ void aligned(float *x) { *(float4 *)((size_t)(x + threadIdx.x) & ~(size_t)15) = make_float4(1, 2, x[0], 4); }

// opaque: no parameter leads to the address
__global__ void forged(float *x, unsigned long long page) { *(float *)(page << 12) = x[threadIdx.x]; }

// x readwrite; inline assembly with a scope, a guard and a label of its own
__global__ void inline_asm(unsigned *x) {
  for (int i = 0; i < 2; i++)
    asm volatile(
        "{ .reg .pred p; .reg .u32 t;\n ld.global.u32 t, [%0]; setp.eq.u32 p, t, 0;\n"
        "@p bra L1; @!p add.u32 t, t, 1; st.global.u32 [%0+-0], t; L1: }" ::"l"(x + i));
}

// tex unknown, out write
__global__ void fetch(cudaTextureObject_t tex, float *out) { out[threadIdx.x] = tex1Dfetch<float>(tex, threadIdx.x); }

// out write
__global__ void __launch_bounds__(256, 2) bounded(double *out) { out[threadIdx.x] = pow((double)threadIdx.x, 2.5); }
}
