// Half precision, single and packed in pairs.
// target compute_75
// build sm60: -arch=compute_60
#include <cuda_fp16.h>

extern "C" __global__ void arithmetic(const __half *a, const __half *b, const __half *c, __half *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const __half x = a[i], y = b[i];
    out += i * 8;
    out[0] = x + y;
    out[1] = x - y;
    out[2] = x * y;
    out[3] = __hfma(x, y, c[i]);
    out[4] = x / y;
    out[5] = __hneg(x);
    out[6] = __habs(x);
    out[7] = __hlt(x, y) ? __float2half(1) : __hge(x, y) ? __float2half(2) : __float2half(3);
}

extern "C" __global__ void arithmetic2(const __half2 *a, const __half2 *b, const __half2 *c, __half2 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const __half2 x = a[i], y = b[i];
    out += i * 7;
    out[0] = __hadd2(x, y);
    out[1] = __hsub2(x, y);
    out[2] = __hmul2(x, y);
    out[3] = __hfma2(x, y, c[i]);
    out[4] = __hneg2(x);
    out[5] = __lowhigh2highlow(x);
    out[6] = __hgt2(x, y);
}

// Conversions both ways, with every rounding.
extern "C" __global__ void conversions(const float *x, __half *rounded, float *back, int *integers, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    rounded[4 * i] = __float2half_rn(x[i]);
    rounded[4 * i + 1] = __float2half_rz(x[i]);
    rounded[4 * i + 2] = __float2half_ru(x[i]);
    rounded[4 * i + 3] = __float2half_rd(x[i]);
    back[i] = __half2float(rounded[4 * i]);
    integers[2 * i] = __half2int_rn(rounded[4 * i]);
    integers[2 * i + 1] = __half2int_rz(rounded[4 * i]);
}

// A dot product of pairs, accumulated in float.
extern "C" __global__ void dot(const __half2 *a, const __half2 *b, float *out, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        const float2 p = __half22float2(__hmul2(a[i], b[i]));
        sum += p.x + p.y;
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        *out = sum;
}

extern "C" __global__ void functions(const __half *x, __half *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const __half v = x[i];
    out += i * 8;
    out[0] = hexp(v);
    out[1] = hlog(v);
    out[2] = hsqrt(v);
    out[3] = hrsqrt(v);
    out[4] = hsin(v);
    out[5] = hcos(v);
    out[6] = hfloor(v);
    out[7] = hrcp(v);
}
