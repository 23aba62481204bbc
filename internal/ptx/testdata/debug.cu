// Debug information: .file, .loc with inlined_at, .section. Compiled with -G, and again with -lineinfo.
__device__ inline float twice(float x) { return 2 * x; }

// x readwrite
extern "C" __global__ void lines(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
