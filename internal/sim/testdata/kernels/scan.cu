// Inclusive prefix sums: within a warp by shuffles, within a block, and over any number of
// blocks in three launches.

template <typename T> __device__ T warpScan(T v)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const T below = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += below;
    }
    return v;
}

template <typename T> __device__ T blockScan(T v, T *total)
{
    __shared__ T sums[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    v = warpScan(v);
    if (lane == 31)
        sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        const T s = warpScan(lane < warps ? sums[lane] : T(0));
        sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0)
        v += sums[warp - 1];
    *total = sums[warps - 1];
    return v;
}

template <typename T> __device__ void scanBlocks(const T *in, T *out, T *totals, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T total;
    const T v = blockScan(i < n ? in[i] : T(0), &total);
    if (i < n)
        out[i] = v;
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

extern "C" __global__ void scan_blocks_u32(const unsigned *in, unsigned *out, unsigned *totals, int n) { scanBlocks(in, out, totals, n); }
extern "C" __global__ void scan_blocks_f64(const double *in, double *out, double *totals, int n) { scanBlocks(in, out, totals, n); }

// One block scans the totals in place, in as many rounds as it takes.
extern "C" __global__ void scan_totals_u32(unsigned *totals, int n)
{
    unsigned carry = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        const int i = base + threadIdx.x;
        unsigned total;
        const unsigned v = blockScan(i < n ? totals[i] : 0u, &total) + carry;
        if (i < n)
            totals[i] = v;
        carry += total;
        __syncthreads();
    }
}

extern "C" __global__ void add_totals_u32(unsigned *out, const unsigned *totals, int n)
{
    const int i = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += totals[blockIdx.x];
}

// Blelloch's work-efficient exclusive scan of one block's 2 * blockDim.x elements, with the
// padding that keeps its strides off one bank.
#define PADDED(i) ((i) + ((i) >> 5))

extern "C" __global__ void scan_blelloch(const int *in, int *out, int n)
{
    extern __shared__ int tmp[];
    const int t = threadIdx.x, a = t, b = t + n / 2;
    tmp[PADDED(a)] = in[a];
    tmp[PADDED(b)] = in[b];
    int stride = 1;
    for (int d = n >> 1; d > 0; d >>= 1, stride <<= 1) {
        __syncthreads();
        if (t < d)
            tmp[PADDED(stride * (2 * t + 2) - 1)] += tmp[PADDED(stride * (2 * t + 1) - 1)];
    }
    if (t == 0)
        tmp[PADDED(n - 1)] = 0;
    for (int d = 1; d < n; d <<= 1) {
        stride >>= 1;
        __syncthreads();
        if (t < d) {
            const int lo = PADDED(stride * (2 * t + 1) - 1), hi = PADDED(stride * (2 * t + 2) - 1);
            const int v = tmp[lo];
            tmp[lo] = tmp[hi];
            tmp[hi] += v;
        }
    }
    __syncthreads();
    out[a] = tmp[PADDED(a)];
    out[b] = tmp[PADDED(b)];
}

// Single pass with decoupled look-back (Merrill and Garland 2016): a block publishes its own
// sum, then walks back over its predecessors until one has published its prefix. Tiles are
// handed out by a counter, so that a running block never waits for one that has not begun.
struct __align__(8) Tile {
    unsigned state; // 0 nothing yet, 1 its sum, 2 its inclusive prefix
    unsigned value;
};

extern "C" __global__ void scan_lookback(const unsigned *in, unsigned *out, volatile unsigned long long *tiles, unsigned *next, int n)
{
    __shared__ unsigned tile, before;
    if (threadIdx.x == 0)
        tile = atomicAdd(next, 1u);
    __syncthreads();
    const int i = tile * blockDim.x + threadIdx.x;
    unsigned total;
    const unsigned v = blockScan(i < n ? in[i] : 0u, &total);
    if (threadIdx.x == 0) {
        tiles[tile] = ((unsigned long long)total << 32) | (tile == 0 ? 2 : 1);
        unsigned prefix = 0;
        for (int p = (int)tile - 1; p >= 0;) {
            const unsigned long long seen = tiles[p];
            const unsigned state = (unsigned)seen;
            if (state == 0)
                continue;
            prefix += (unsigned)(seen >> 32);
            if (state == 2)
                break;
            --p;
        }
        tiles[tile] = ((unsigned long long)(prefix + total) << 32) | 2;
        before = prefix;
    }
    __syncthreads();
    if (i < n)
        out[i] = v + before;
}
