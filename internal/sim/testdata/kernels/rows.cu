// Operations on the rows of a matrix: softmax, layer normalization, and their relatives.
// target compute_75
// build fast: -arch=compute_80 -use_fast_math
#include <cmath>

__device__ float warpMax(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

__device__ float warpSum(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// A warp per row, three passes over it.
extern "C" __global__ void softmax_warp(const float *__restrict__ in, float *__restrict__ out, int rows, int n)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    in += (size_t)row * n;
    out += (size_t)row * n;
    float largest = -INFINITY;
    for (int i = lane; i < n; i += 32)
        largest = fmaxf(largest, in[i]);
    largest = warpMax(largest);
    float sum = 0;
    for (int i = lane; i < n; i += 32)
        sum += expf(in[i] - largest);
    const float scale = 1 / warpSum(sum);
    for (int i = lane; i < n; i += 32)
        out[i] = expf(in[i] - largest) * scale;
}

// A block per row in one pass over it: each thread keeps a running maximum and a sum relative
// to it (Milakov and Gimelshein 2018), and pairs are merged.
struct __align__(8) Online {
    float largest, sum;
};

__device__ Online merge(Online a, Online b)
{
    const bool first = a.largest > b.largest;
    const Online big = first ? a : b, small = first ? b : a;
    return {big.largest, big.sum + (isinf(small.largest) ? 0 : small.sum * __expf(small.largest - big.largest))};
}

extern "C" __global__ void softmax_online(const float *__restrict__ in, float *__restrict__ out, int n)
{
    extern __shared__ Online parts[];
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    Online mine = {-INFINITY, 0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine = merge(mine, {in[i], 1});
    parts[threadIdx.x] = mine;
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + s]);
    }
    __syncthreads();
    const Online all = parts[0];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = __expf(in[i] - all.largest) / all.sum;
}

// A warp per row, the row in registers as float4: n is 128.
extern "C" __global__ void layernorm128(const float4 *__restrict__ in, const float4 *__restrict__ gain, const float4 *__restrict__ bias, float4 *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd, int rows)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    const float4 x = in[row * 32 + lane];
    const float m = warpSum(x.x + x.y + x.z + x.w) * (1.0f / 128);
    const float dx = x.x - m, dy = x.y - m, dz = x.z - m, dw = x.w - m;
    const float s = rsqrtf(warpSum(dx * dx + dy * dy + dz * dz + dw * dw) * (1.0f / 128) + 1e-5f);
    const float4 g = gain[lane], b = bias[lane];
    out[row * 32 + lane] = make_float4(dx * s * g.x + b.x, dy * s * g.y + b.y, dz * s * g.z + b.z, dw * s * g.w + b.w);
    if (lane == 0) {
        mean[row] = m;
        rstd[row] = s;
    }
}

// A block per row of any length: Welford's mean and variance, merged by Chan's formula.
struct Moments {
    float n, mean, m2;
};

__device__ Moments merge(Moments a, Moments b)
{
    const float n = a.n + b.n;
    if (n == 0)
        return {0, 0, 0};
    const float d = b.mean - a.mean;
    return {n, a.mean + d * (b.n / n), a.m2 + b.m2 + d * d * (a.n * b.n / n)};
}

extern "C" __global__ void layernorm(const float *__restrict__ in, const float *__restrict__ gain, const float *__restrict__ bias, float *__restrict__ out, int n, float epsilon)
{
    __shared__ Moments parts[8];
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    Moments mine = {0, 0, 0};
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float d = in[i] - mine.mean;
        mine.n += 1;
        mine.mean += d / mine.n;
        mine.m2 += d * (in[i] - mine.mean);
    }
    for (int mask = 1; mask < 32; mask *= 2)
        mine = merge(mine, {__shfl_xor_sync(~0u, mine.n, mask), __shfl_xor_sync(~0u, mine.mean, mask), __shfl_xor_sync(~0u, mine.m2, mask)});
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = mine;
    __syncthreads();
    Moments all = {0, 0, 0};
    for (int w = 0; w < blockDim.x / 32; ++w)
        all = merge(all, parts[w]);
    const float s = 1 / sqrtf(all.m2 / all.n + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = (in[i] - all.mean) * s * gain[i] + bias[i];
}

// The tanh form of the Gaussian error linear unit, and the exact one.
extern "C" __global__ void gelu(const float *__restrict__ x, float *__restrict__ approx, float *__restrict__ exact, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        approx[i] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
        exact[i] = v * normcdff(v);
    }
}
