// Blocks that wait for other blocks.
// target compute_75
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Steps of a cyclic shift of sums: each step needs what every other block left in the last.
extern "C" __global__ void grid_steps(int *a, int *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        if (i < n)
            b[i] = a[i] + a[(i + n / 2) % n] + s;
        grid.sync();
        int *t = a;
        a = b;
        b = t;
    }
}

// How a block learns what the blocks before it sum to (Merrill & Garland, 2016):
// 0 is not yet, 1 the block's own sum, 2 the sum up to and with the block.
struct Status {
    unsigned flag;
    int sum;
};

enum { VOLATILE, CACHE_GLOBAL, ACQUIRE };

template <int HOW>
__device__ Status look(Status *at)
{
    Status s;
    if (HOW == VOLATILE)
        asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];" : "=r"(s.flag), "=r"(s.sum) : "l"(at) : "memory");
    if (HOW == CACHE_GLOBAL)
        asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(s.flag), "=r"(s.sum) : "l"(at) : "memory");
    if (HOW == ACQUIRE) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(s.flag) : "l"(&at->flag) : "memory");
        asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(s.sum) : "l"(&at->sum) : "memory");
    }
    return s;
}

template <int HOW>
__device__ void show(Status *at, unsigned flag, int sum)
{
    if (HOW == ACQUIRE) {
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(&at->sum), "r"(sum) : "memory");
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&at->flag), "r"(flag) : "memory");
    } else {
        asm volatile("st.global.cg.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(flag), "r"(sum) : "memory");
    }
}

// An inclusive scan in one pass. Tiles are numbered from the end when reverse is set, so that
// a block waits for those that are begun after it.
template <int HOW>
__device__ void scan(const int *in, int *out, Status *status, int n, bool reverse)
{
    __shared__ int sums[256], before;
    const int tile = reverse ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int t = threadIdx.x, i = tile * 256 + t;
    sums[t] = i < n ? in[i] : 0;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        const int v = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += v;
    }
    __syncthreads();
    if (t == 0) {
        show<HOW>(&status[tile], tile == 0 ? 2 : 1, sums[255]);
        int sum = 0;
        for (int k = tile - 1; k >= 0;) {
            const Status s = look<HOW>(&status[k]);
            if (s.flag == 0)
                continue;
            sum += s.sum;
            if (s.flag == 2)
                break;
            --k;
        }
        if (tile > 0)
            show<HOW>(&status[tile], 2, sum + sums[255]);
        before = sum;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + sums[t];
}

extern "C" __global__ void scan_volatile(const int *in, int *out, Status *s, int n, int reverse) { scan<VOLATILE>(in, out, s, n, reverse); }
extern "C" __global__ void scan_cached(const int *in, int *out, Status *s, int n, int reverse) { scan<CACHE_GLOBAL>(in, out, s, n, reverse); }
extern "C" __global__ void scan_acquire(const int *in, int *out, Status *s, int n, int reverse) { scan<ACQUIRE>(in, out, s, n, reverse); }

// Blocks enter a critical section in the order of a ticket that counts down, and hold a lock
// while they wait for it: first the last block, which is begun last.
extern "C" __global__ void turns(int *lock, volatile int *turn, int *order, int *entered)
{
    if (threadIdx.x == 0) {
        while (*turn != blockIdx.x)
            __nanosleep(100);
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        order[(*entered)++] = blockIdx.x;
        __threadfence();
        atomicExch(lock, 0);
        atomicSub((int *)turn, 1);
    }
    __syncthreads();
}

// Nobody ever sets the flag.
extern "C" __global__ void never(volatile int *flag)
{
    while (*flag == 0)
        ;
}
