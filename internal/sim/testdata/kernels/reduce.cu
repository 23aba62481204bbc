// Reductions within warps, within blocks, and over the grid.
// build sm80: -arch=compute_80
// build sm90: -arch=compute_90
#include <cfloat>
#include <climits>

struct Sum {
    template <typename T> static __device__ T identity() { return T(0); }
    template <typename T> static __device__ T combine(T a, T b) { return a + b; }
};

struct Max {
    template <typename T> static __device__ T identity();
    template <typename T> static __device__ T combine(T a, T b) { return a > b ? a : b; }
};
template <> __device__ int Max::identity<int>() { return INT_MIN; }
template <> __device__ float Max::identity<float>() { return -FLT_MAX; }

template <typename Op, typename T> __device__ T warpReduce(T v)
{
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        v = Op::combine(v, __shfl_down_sync(0xffffffffu, v, offset));
    return v;
}

// The block's result, in thread 0. Any number of threads that is a multiple of 32.
template <typename Op, typename T> __device__ T blockReduce(T v)
{
    __shared__ T partial[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warpReduce<Op>(v);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    const int warps = blockDim.x / warpSize;
    v = threadIdx.x < warps ? partial[lane] : Op::template identity<T>();
    return warp == 0 ? warpReduce<Op>(v) : v;
}

template <typename Op, typename T> __device__ T gridStride(const T *x, int n)
{
    T v = Op::template identity<T>();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        v = Op::combine(v, x[i]);
    return v;
}

// One result per block.
extern "C" __global__ void sum_blocks_f32(const float *__restrict__ x, float *__restrict__ partial, int n)
{
    const float v = blockReduce<Sum>(gridStride<Sum>(x, n));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

extern "C" __global__ void sum_blocks_f64(const double *__restrict__ x, double *__restrict__ partial, int n)
{
    const double v = blockReduce<Sum>(gridStride<Sum>(x, n));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

extern "C" __global__ void max_blocks_i32(const int *__restrict__ x, int *__restrict__ partial, int n)
{
    const int v = blockReduce<Max>(gridStride<Max>(x, n));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

extern "C" __global__ void max_blocks_f32(const float *__restrict__ x, float *__restrict__ partial, int n)
{
    const float v = blockReduce<Max>(gridStride<Max>(x, n));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

// The classic tree in dynamic shared memory: a power of two of threads.
extern "C" __global__ void sum_tree(const unsigned *x, unsigned long long *total, int n)
{
    extern __shared__ unsigned long long tree[];
    const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    unsigned long long v = i < n ? x[i] : 0;
    if (i + blockDim.x < n)
        v += x[i + blockDim.x];
    tree[threadIdx.x] = v;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            tree[threadIdx.x] += tree[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, tree[0]);
}

// The last block to finish adds what the others left: one launch, no second kernel.
__device__ unsigned finished;

extern "C" __global__ void sum_last_block(const float *__restrict__ x, volatile float *partial, float *__restrict__ total, int n)
{
    __shared__ bool last;
    float v = blockReduce<Sum>(gridStride<Sum>(x, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        v += partial[i];
    __syncthreads();
    v = blockReduce<Sum>(v);
    if (threadIdx.x == 0)
        *total = v;
}

// A mistake to be found: eight lanes take part, and their first two steps read others.
extern "C" __global__ void sum_of_eight(const int *x, int *sum)
{
    int v = x[threadIdx.x];
    if (threadIdx.x < 8) {
        for (int offset = 16; offset > 0; offset /= 2)
            v += __shfl_down_sync(0xffu, v, offset);
        if (threadIdx.x == 0)
            *sum = v;
    }
}

// The index of the largest element; of equal ones, the first.
extern "C" __global__ void argmax(const float *__restrict__ x, int *__restrict__ at, int n)
{
    const int row = blockIdx.x, lane = threadIdx.x;
    x += (size_t)row * n;
    float best = -INFINITY;
    int index = n;
    for (int i = lane; i < n; i += 32)
        if (x[i] > best) {
            best = x[i];
            index = i;
        }
    for (int mask = 16; mask > 0; mask /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, best, mask);
        const int where = __shfl_xor_sync(0xffffffffu, index, mask);
        if (other > best || (other == best && where < index)) {
            best = other;
            index = where;
        }
    }
    if (lane == 0)
        at[row] = index;
}

#if __CUDA_ARCH__ >= 800
// What sm_80 does in one instruction each.
extern "C" __global__ void warp_redux(const unsigned *x, unsigned *out)
{
    const unsigned v = x[threadIdx.x], warp = threadIdx.x / 32;
    out += warp * 6;
    const unsigned sum = __reduce_add_sync(0xffffffffu, v), lo = __reduce_min_sync(0xffffffffu, v),
                   hi = __reduce_max_sync(0xffffffffu, v), all = __reduce_and_sync(0xffffffffu, v),
                   any = __reduce_or_sync(0xffffffffu, v), odd = __reduce_xor_sync(0xffffffffu, v);
    if (threadIdx.x % 32 == 0) {
        out[0] = sum, out[1] = lo, out[2] = hi;
        out[3] = all, out[4] = any, out[5] = odd;
    }
}
#endif
