// What arrived with compute capability 8.0, and what the headers make of it before: copies to
// shared memory that run beside the arithmetic, barriers in shared memory, and bfloat16.
// target compute_75
// build sm80: -arch=compute_80
// build sm90: -arch=compute_90
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_awbarrier_primitives.h>

// Sums the rows of a matrix, the next tile of 128 floats in flight while this one is added.
extern "C" __global__ void row_sums(const float4 *in, float *out, int tiles)
{
    __shared__ float4 stage[2][32];
    const int lane = threadIdx.x;
    in += (size_t)blockIdx.x * tiles * 32;
    __pipeline_memcpy_async(&stage[0][lane], &in[lane], sizeof(float4));
    __pipeline_commit();
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles)
            __pipeline_memcpy_async(&stage[(t + 1) & 1][lane], &in[(t + 1) * 32 + lane], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        const float4 v = stage[t & 1][31 - lane]; // another lane's
        sum += v.x + v.y + v.z + v.w;
        __syncwarp();
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        out[blockIdx.x] = sum;
}

// Arrive, do something else, then wait: a split barrier.
extern "C" __global__ void neighbours(const int *in, int *out, int rounds)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int values[128];
    if (threadIdx.x == 0)
        __mbarrier_init(&barrier, blockDim.x);
    __syncthreads();
    int mine = in[threadIdx.x];
    for (int r = 0; r < rounds; ++r) {
        values[threadIdx.x] = mine;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        int other = mine * 3; // beside the barrier
        while (!__mbarrier_test_wait(&barrier, token))
            ;
        other += values[(threadIdx.x + 1) % blockDim.x];
        token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait(&barrier, token))
            ;
        mine = other;
    }
    out[threadIdx.x] = mine;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloats(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out += 6 * i;
    out[0] = __hadd2(a[i], b[i]);
    out[1] = __hmul2(a[i], b[i]);
    out[2] = __hfma2(a[i], b[i], a[i]);
    out[3] = __hmax2(a[i], b[i]);
    out[4] = __hneg2(a[i]);
    out[5] = __float22bfloat162_rn(make_float2(__low2float(a[i]) / 3, __high2float(b[i]) / 7));
}
#endif
