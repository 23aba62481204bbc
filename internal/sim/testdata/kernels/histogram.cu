// Histograms with atomics in shared memory, and one with a sub-histogram per warp.

extern "C" __global__ void histogram256(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i] > 0)
            atomicAdd(&bins[i], local[i]);
}

// Four bytes a load, and a histogram per warp to keep warps off each other's bins.
extern "C" __global__ void histogram64(const uchar4 *data, unsigned *bins, int quads)
{
    extern __shared__ unsigned perWarp[];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int i = threadIdx.x; i < warps * 64; i += blockDim.x)
        perWarp[i] = 0;
    __syncthreads();
    unsigned *mine = perWarp + warp * 64;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        const uchar4 v = data[i];
        atomicAdd(mine + (v.x >> 2), 1u);
        atomicAdd(mine + (v.y >> 2), 1u);
        atomicAdd(mine + (v.z >> 2), 1u);
        atomicAdd(mine + (v.w >> 2), 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < warps; ++w)
            sum += perWarp[w * 64 + bin];
        atomicAdd(&bins[bin], sum);
    }
}

// Weighted, over a range of floats; values outside it fall into the first and the last bin.
extern "C" __global__ void histogram_range(const float *x, const float *w, float *bins, int n, int count, float lo, float hi)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int bin = (int)floorf((x[i] - lo) / (hi - lo) * count);
    atomicAdd(&bins[min(max(bin, 0), count - 1)], w[i]);
}
