// Calls that nvcc cannot inline: recursion, function pointers, virtual functions.
// Compiled to calls.ptx with
//   nvcc -ptx -arch=compute_75 -o calls.ptx calls.cu
// (nvcc 11.8). The references are in calls_test.go.

__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

// Depth differs by lane, and both functions call each other.
__device__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n != 0 && even(n - 1); }

extern "C" __global__ void recurse(unsigned *out) {
  unsigned t = threadIdx.x;
  out[3 * t] = fib(t % 12);
  out[3 * t + 1] = ackermann(t % 3, t % 5);
  out[3 * t + 2] = even(t);
}

// Each call has an array of its own, and pointers into those of its callers.
__device__ __noinline__ void permute(int *a, int k, int n, unsigned *sum) {
  int copy[4];
  for (int i = 0; i < 4; i++) copy[i] = a[i];
  if (k == n) {
    *sum = *sum * 31 + copy[0] * 1000 + copy[1] * 100 + copy[2] * 10 + copy[3];
    return;
  }
  for (int i = k; i < n; i++) {
    int t = copy[k]; copy[k] = copy[i]; copy[i] = t;
    permute(copy, k + 1, n, sum);
  }
}

extern "C" __global__ void permutations(unsigned *out) {
  int a[4];
  for (int i = 0; i < 4; i++) a[i] = (threadIdx.x + i) % 10;
  unsigned sum = 0;
  permute(a, 0, 1 + threadIdx.x % 4, &sum);
  out[threadIdx.x] = sum;
}

__device__ void quicksort(int *a, int lo, int hi) {
  if (lo >= hi) return;
  int p = a[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) {
    while (a[i] < p) i++;
    while (a[j] > p) j--;
    if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
  }
  quicksort(a, lo, j);
  quicksort(a, i, hi);
}

extern "C" __global__ void sorts(int *a, int n) { quicksort(a + threadIdx.x * n, 0, n - 1); }

typedef int (*operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b) { return b <= 0 ? 1 : a * power(a, b - 1); }
__device__ operation table[4] = {plus, minus, times, power};

extern "C" __global__ void pointers(int *out) {
  int t = threadIdx.x;
  out[t] = table[t % 4](t, 3);
}

// A fold whose step is chosen by data and that calls itself through a pointer.
typedef int (*step)(int, int, int);
__device__ int down(int n, int acc, int mode);
__device__ int slow(int n, int acc, int mode);
__constant__ step steps[2] = {down, slow};
__device__ __noinline__ int down(int n, int acc, int mode) { return n <= 0 ? acc : steps[(n + mode) % 2](n - 1, acc * 3 + n, mode); }
__device__ __noinline__ int slow(int n, int acc, int mode) { return n <= 0 ? -acc : steps[n % 2](n - 1, acc + mode, mode); }

extern "C" __global__ void chain(int *out) { out[threadIdx.x] = steps[threadIdx.x % 2](threadIdx.x % 9, 1, threadIdx.x); }

struct shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  float s;
  __device__ square(float s) : s(s) {}
  __device__ float area() const override { return s * s; }
};
struct box : shape {
  float w, h;
  __device__ box(float w, float h) : w(w), h(h) {}
  __device__ float area() const override { return w * h; }
};

extern "C" __global__ void areas(float *out) {
  float t = threadIdx.x;
  square s(t);
  box b(t, 2);
  const shape *list[2] = {&s, &b};
  float sum = 0;
  for (int i = 0; i < 2; i++) sum += list[(threadIdx.x + i) % 2]->area() * (i + 1);
  out[threadIdx.x] = sum;
}

extern "C" __global__ void endless(unsigned *out) { out[0] = fib(out[1] - 1) + ackermann(4, 2); }
