// Sorting: bitonic for one tile in shared memory and between tiles, and the passes of a
// least-significant-digit radix sort.

template <typename T> __device__ void order(T &a, T &b, bool ascending)
{
    if ((a > b) == ascending) {
        const T t = a;
        a = b;
        b = t;
    }
}

#define TILE 512 // elements that a block of TILE / 2 threads sorts

// Sorts each tile, up and down in turn: the start of a bitonic sort of the whole.
extern "C" __global__ void bitonic_tiles(unsigned *keys)
{
    __shared__ unsigned s[TILE];
    keys += blockIdx.x * TILE;
    const unsigned t = threadIdx.x;
    s[t] = keys[t];
    s[t + TILE / 2] = keys[t + TILE / 2];
    for (unsigned size = 2; size <= TILE; size <<= 1) {
        const bool up = size == TILE ? (blockIdx.x & 1) == 0 : (t & (size / 2)) == 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned i = 2 * t - (t & (stride - 1));
            order(s[i], s[i + stride], up);
        }
    }
    __syncthreads();
    keys[t] = s[t];
    keys[t + TILE / 2] = s[t + TILE / 2];
}

// One step of a merge whose stride spans tiles.
extern "C" __global__ void bitonic_step(unsigned *keys, unsigned size, unsigned stride)
{
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned i = 2 * t - (t & (stride - 1));
    order(keys[i], keys[i + stride], (t & (size / 2)) == 0);
}

// The steps of a merge that stay within a tile.
extern "C" __global__ void bitonic_merge(unsigned *keys, unsigned size)
{
    __shared__ unsigned s[TILE];
    const unsigned t = threadIdx.x, global = blockIdx.x * (TILE / 2) + t;
    keys += blockIdx.x * TILE;
    s[t] = keys[t];
    s[t + TILE / 2] = keys[t + TILE / 2];
    const bool up = (global & (size / 2)) == 0;
#pragma unroll
    for (unsigned stride = TILE / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        const unsigned i = 2 * t - (t & (stride - 1));
        order(s[i], s[i + stride], up);
    }
    __syncthreads();
    keys[t] = s[t];
    keys[t + TILE / 2] = s[t + TILE / 2];
}

// Sorts 32 keys per warp in registers.
extern "C" __global__ void bitonic_warp(float *keys)
{
    const unsigned lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = keys[i];
#pragma unroll
    for (unsigned size = 2; size <= 32; size <<= 1)
#pragma unroll
        for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
            const float w = __shfl_xor_sync(0xffffffffu, v, stride);
            const bool low = (lane & stride) == 0, up = (lane & size) == 0;
            v = low == up ? fminf(v, w) : fmaxf(v, w);
        }
    keys[i] = v;
}

#define BITS 4
#define DIGITS (1 << BITS)

// How often each digit occurs in each block: counts[digit * blocks + block].
extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int n, int shift)
{
    __shared__ unsigned local[DIGITS];
    if (threadIdx.x < DIGITS)
        local[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&local[(keys[i] >> shift) & (DIGITS - 1)], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// Exclusive prefix sum of the counts by one warp.
extern "C" __global__ void radix_offsets(unsigned *counts, int n)
{
    unsigned carry = 0;
    for (int base = 0; base < n; base += 32) {
        const int i = base + threadIdx.x;
        const unsigned mine = i < n ? counts[i] : 0;
        unsigned v = mine;
        for (int d = 1; d < 32; d *= 2) {
            const unsigned below = __shfl_up_sync(~0u, v, d);
            if (threadIdx.x >= d)
                v += below;
        }
        if (i < n)
            counts[i] = carry + v - mine;
        carry += __shfl_sync(~0u, v, 31);
    }
}

// Stable scatter: a key's place is its digit's offset, plus its rank among the equal digits of
// the block, counted by ballots within the warp and by a table over the warps before.
extern "C" __global__ void radix_scatter(const unsigned *in, const unsigned *values, unsigned *out, unsigned *outValues, const unsigned *offsets, int n, int shift)
{
    __shared__ unsigned warpCounts[32][DIGITS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (unsigned j = threadIdx.x; j < warps * DIGITS; j += blockDim.x)
        warpCounts[j / DIGITS][j % DIGITS] = 0;
    __syncthreads();
    const unsigned key = i < n ? in[i] : 0, digit = (key >> shift) & (DIGITS - 1);
    unsigned same = __ballot_sync(0xffffffffu, i < n);
    for (int b = 0; b < BITS; ++b) {
        const unsigned ones = __ballot_sync(0xffffffffu, (digit >> b) & 1);
        same &= (digit >> b) & 1 ? ones : ~ones;
    }
    const unsigned before = __popc(same & ((1u << lane) - 1));
    if (i < n && before == 0)
        warpCounts[warp][digit] = __popc(same);
    __syncthreads();
    if (i >= n)
        return;
    unsigned at = offsets[digit * gridDim.x + blockIdx.x] + before;
    for (unsigned w = 0; w < warp; ++w)
        at += warpCounts[w][digit];
    out[at] = key;
    outValues[at] = values[i];
}
