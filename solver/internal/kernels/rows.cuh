// How kernels go over the rows of a sparse matrix in compressed rows. Each row is shared by lanes
// neighbouring threads, a power of two from 1 (a thread for each row, for rows of a few entries)
// to 32 (a warp for each, for long ones).
#pragma once

#include "solver.cuh"

// EACH_ROW goes over all rows, so that the threads of a warp stay together: in a turn whose row
// is past the end, i is n or more.
#define EACH_ROW(i, lanes, n)                                                                     \
    for (int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * (32 / lanes),                 \
             i = first + threadIdx.x % 32 / lanes;                                                \
         first < n;                                                                               \
         first += blockDim.x * gridDim.x / lanes, i += blockDim.x * gridDim.x / lanes)

// Of a longer row each of its threads would do more than so many elements: the whole warp does it instead. Graphs have a
// few rows a thousand times as long as the others, for which all else would wait.
enum { LONG = 8 };

// elements is what a thread adds up of those from k to before end, which so many threads share.
static __device__ real elements(const int *col, const real *val, const real *x, int k, int end, int threads)
{
    real sum = 0;
#pragma unroll 1 // four at a time take more registers than leave room for all warps
    for (k += threadIdx.x % threads; k < end; k += threads)
        sum += val[k] * x[col[k]];
    return sum;
}

// row is row i of the product, in the first of the threads that share it.
static __device__ real row(const int *ptr, const int *col, const real *val, const real *x, int lanes, int i, int n)
{
    int k = 0, end = 0;
    if (i < n) {
        k = ptr[i];
        end = ptr[i + 1];
    }
    const bool together = end - k > LONG * lanes;
    real sum = together ? (real)0 : elements(col, val, x, k, end, lanes);
    for (int d = lanes / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d, lanes);
    for (unsigned rest = __ballot_sync(0xffffffffu, together && threadIdx.x % lanes == 0); rest > 0; rest &= rest - 1) {
        const int first = __ffs(rest) - 1; // of the threads that share a row
        real part = elements(col, val, x, __shfl_sync(0xffffffffu, k, first), __shfl_sync(0xffffffffu, end, first), 32);
        for (int d = 1; d < 32; d *= 2)
            part += __shfl_xor_sync(0xffffffffu, part, d);
        if (threadIdx.x % 32 == first)
            sum = part;
    }
    return sum;
}
