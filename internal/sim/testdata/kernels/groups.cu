// Cooperative groups, and what people build from votes and shuffles.
// target compute_75
// build sm80: -arch=compute_80
// build sm90: -arch=compute_90
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int SIZE> __device__ void tileSums(const int *in, int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    const int i = blockIdx.x * blockDim.x + block.thread_rank();
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    if (tile.thread_rank() == 0)
        out[i / SIZE] = v;
}
extern "C" __global__ void tile_sums_4(const int *in, int *out) { tileSums<4>(in, out); }
extern "C" __global__ void tile_sums_16(const int *in, int *out) { tileSums<16>(in, out); }

extern "C" __global__ void tile_reduce(const int *in, int *sum, int *largest, int *prefix)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = cg::reduce(tile, in[i], cg::plus<int>());
    const int top = cg::reduce(tile, in[i], cg::greater<int>());
    prefix[i] = cg::inclusive_scan(tile, in[i]);
    if (tile.thread_rank() == 0) {
        sum[i / 8] = total;
        largest[i / 8] = top;
    }
}

// Stream compaction with one atomic per group of lanes that happen to be together.
__device__ int claim(int *counter)
{
    const cg::coalesced_group g = cg::coalesced_threads();
    int first;
    if (g.thread_rank() == 0)
        first = atomicAdd(counter, g.size());
    return g.shfl(first, 0) + g.thread_rank();
}

extern "C" __global__ void compact(const int *in, int *out, int *counter, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        out[claim(counter)] = in[i];
}

// One atomic per different key of a warp.
extern "C" __global__ void count_keys(const unsigned *keys, unsigned *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i >= n)
        return;
    const unsigned peers = __match_any_sync(active, keys[i]);
    if ((threadIdx.x & 31) == __ffs(peers) - 1)
        atomicAdd(&counts[keys[i]], __popc(peers));
}

extern "C" __global__ void votes(const int *in, unsigned *out)
{
    const int v = in[threadIdx.x], lane = threadIdx.x % 32;
    const bool all = __all_sync(~0u, v > -50), any = __any_sync(~0u, v > 90);
    const unsigned positive = __ballot_sync(~0u, v > 0);
    int same = 0;
    const unsigned match = __match_all_sync(~0u, v >> 31, &same);
    const int anyone = __syncthreads_or(v == 77), every = __syncthreads_and(v != 13), count = __syncthreads_count(v < 0);
    if (lane == 0) {
        unsigned *o = out + threadIdx.x / 32 * 8;
        o[0] = all, o[1] = any, o[2] = positive, o[3] = match;
        o[4] = same, o[5] = anyone != 0, o[6] = every != 0, o[7] = count;
    }
}

// Halves of a warp that go different ways and shuffle among themselves.
extern "C" __global__ void split_warp(const int *in, int *out)
{
    const int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (lane < 16) {
        for (int d = 8; d > 0; d /= 2)
            v += __shfl_down_sync(0x0000ffffu, v, d, 16);
        v = __shfl_sync(0x0000ffffu, v, 0);
    } else {
        for (int d = 8; d > 0; d /= 2)
            v = max(v, __shfl_xor_sync(0xffff0000u, v, d));
        __syncwarp(0xffff0000u);
    }
    out[i] = v;
}

// The whole grid as one group: launched cooperatively, every block resident.
extern "C" __global__ void grid_steps(int *cells, int *next, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; ++s) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            next[i] = cells[(i + 1) % n] + cells[i];
        grid.sync();
        int *t = cells;
        cells = next;
        next = t;
    }
}

// Producer and consumer warps with named barriers.
extern "C" __global__ void named_barriers(const int *in, int *out, int rounds)
{
    __shared__ int box[32];
    const int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; ++r) {
            asm volatile("bar.sync 1, 64;" ::: "memory"); // the box is free
            box[lane] = in[r * 32 + lane] * 2;
            asm volatile("bar.arrive 2, 64;" ::: "memory"); // the box is full
        }
    } else {
        for (int r = 0; r < rounds; ++r) {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[r * 32 + lane] = box[31 - lane] + 1;
        }
    }
}
