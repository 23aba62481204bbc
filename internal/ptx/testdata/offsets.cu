// Kernels that compute with pointers as with numbers: what they do must not be lost.
// valid C++: the index of an iterator, applied to an array out of a table of pointers
extern "C" __global__ void mark(const int* first, const int* last, int key, int** t) {
  const int* p = first;
  while (p < last && *p < key) ++p;
  t[0][p - first] = 9;                    // writes the buffer t[0] points to
}
// the same with an index found in shared memory
extern "C" __global__ void mark_shared(const int* a, int key, int** t) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x]; __syncthreads();
  const int* lo = s;
  for (long len = 64; len > 0;) { long h = len / 2; if (lo[h] < key) { lo += h + 1; len -= h + 1; } else len = h; }
  t[0][lo - s] = 9;
}
// control: with an int index the kernel is reported opaque, as it should be
extern "C" __global__ void control(const int* first, int n, int key, int** t) {
  int i = 0;
  while (i < n && first[i] < key) ++i;
  t[0][i] = 9;
}
// valid C++, nvcc 11.8: a helper that converts its pointer for inline assembly (streaming store)
__device__ __noinline__ void put(char* p, int v) {
  size_t a = __cvta_generic_to_global(p);
  asm volatile("st.global.cs.u8 [%0], %1;" ::"l"(a), "r"(v) : "memory");
}
extern "C" __global__ void k(char** t, size_t off, char* o) {
  put(o + off, 1);
  t[0][off] = 1;       // writes through a pointer loaded from memory
}
// q is an address passed as an integer
extern "C" __global__ void k2(unsigned long long q, char* o, size_t off) { put(o + off, 1); *(char*)(q + off) = 1; }
typedef unsigned long long u64;
// two planes at an equal stride: the difference goes through a product
extern "C" __global__ void stride(float* a, float* b, int n) { long d = b - a; for (int k = 0; k < n; k++) a[threadIdx.x + d * k] = k + 1; }
// branch-free choice between two typed pointers; only defined integer conversions
extern "C" __global__ void pick(float* b, float* a, int n) { a[threadIdx.x] = 2; u64 m = -(u64)(n & 1); ((float*)((u64)a ^ (((u64)a ^ (u64)b) & m)))[threadIdx.x] = 1; }
// 32-bit offsets kept in shared memory
extern "C" __global__ void rel32(char* base, char* a, int n) { __shared__ int off[32]; off[threadIdx.x] = (int)(a - base); __syncthreads(); base[0] = 1; base[off[n] + threadIdx.x] = 1; }
// low half of one pointer under the high half of another
extern "C" __global__ void halves(float* a, float* b) { u64 x = (u64)a, y = (u64)b; b[threadIdx.x] = 1; ((float*)((y & 0xffffffff00000000ull) | (unsigned)x))[threadIdx.x] = 2; }
