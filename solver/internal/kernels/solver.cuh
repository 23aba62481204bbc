// What the kernels of solvers share. They compute in double, or with -DREAL=float in float.
#pragma once

#ifndef REAL
#define REAL double
#endif
typedef REAL real;

// block_sum adds up one value of each thread of a block, whose threads are whole warps. Thread 0
// has the sum. The order of the additions depends on the number of threads alone, so the same
// values give the same bits, which atomics would not.
static __device__ real block_sum(real v)
{
    __shared__ real part[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    __syncthreads(); // an earlier sum has been read
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    if (warp > 0)
        return v;
    v = lane < blockDim.x / 32 ? part[lane] : (real)0;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

// leave is the first stage of a sum over all blocks of a launch: each leaves what its threads add up to.
static __device__ void leave(real v, real *partial)
{
    v = block_sum(v);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

// leave does so for two sums.
static __device__ void leave(real v, real w, real *first, real *second)
{
    v = block_sum(v);
    w = block_sum(w);
    if (threadIdx.x == 0) {
        first[blockIdx.x] = v;
        second[blockIdx.x] = w;
    }
}

// total is the second stage: one block adds up what each of them left.
static __device__ real total(const real *partial, int blocks)
{
    real sum = 0;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += partial[i];
    return block_sum(sum);
}

// moved is next, an element of a solution after a step, or v, what it was before, where the factor of the step
// is 0. Past the last iteration the factor is 0 and the rest of the step may be infinite: 0 times infinity is no number.
// The selection is in PTX, since nvcc makes a branch of it, in which all loads would wait for the factor.
static __device__ double moved(double factor, double v, double next)
{
    double x;
    asm("{ .reg .pred p; setp.neu.f64 p, %1, 0d0000000000000000; selp.f64 %0, %2, %3, p; }" : "=d"(x) : "d"(factor), "d"(next), "d"(v));
    return x;
}

static __device__ float moved(float factor, float v, float next)
{
    float x;
    asm("{ .reg .pred p; setp.neu.f32 p, %1, 0f00000000; selp.f32 %0, %2, %3, p; }" : "=f"(x) : "f"(factor), "f"(next), "f"(v));
    return x;
}

// STRIDE goes over 0 <= i < n by the threads of the whole grid. With -DPARTS, for launches that several devices share, each
// block has consecutive elements, as many as the others: a range of blocks then accesses one range of each vector.
#ifdef PARTS
static __device__ int part(int n)
{
    const int size = blockDim.x, blocks = gridDim.x;
    return ((n + size - 1) / size + blocks - 1) / blocks * size;
}

#define STRIDE(i, n)                                                                           \
    for (int end = min((int)(blockIdx.x + 1) * part(n), n), i = blockIdx.x * part(n) + threadIdx.x; i < end; i += blockDim.x)
#else
#define STRIDE(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
#endif
