// How kernels go over the rows of a sparse matrix in compressed rows. Each row is shared by lanes
// neighbouring threads, a power of two from 1 (a thread for each row, for rows of a few entries)
// to 32 (a warp for each, for long ones).
#pragma once

#include "solver.cuh"

// EACH_ROW goes over all rows, so that the threads of a warp stay together: in a turn whose row
// is past the end, i is END(n) or more. The first row of the warp is first.
//
// With -DPARTS, for launches that several devices share, each block has so many consecutive rows, a multiple of those of
// a turn. The bytes that it accesses then follow from its index, because band bounds what is loaded:
//
//   ptr[i] is between start(i) - early and start(i) + late, where start(i) = i * slope / 2^16
//   col[k] of row i is between i - below and i + above
//
// The host computes the bounds from the matrix, so that they change no index.
#ifdef PARTS
#define EACH_ROW(i, lanes, n)                                                                     \
    for (int end = min((int)(blockIdx.x + 1) * per, n), turn = blockDim.x / lanes,                \
             first = blockIdx.x * per + threadIdx.x / 32 * (32 / lanes),                          \
             i = first + threadIdx.x % 32 / lanes;                                                \
         first < end;                                                                             \
         first += turn, i += turn)
#define END(n) end
#define MATRIX const int *ptr, const int *col, const real *val, long long slope, int early, int late, int below, int above, int per
#define BAND (band{slope, early, late, below, above})
#else
#define EACH_ROW(i, lanes, n)                                                                     \
    for (int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * (32 / lanes),                 \
             i = first + threadIdx.x % 32 / lanes;                                                \
         first < n;                                                                               \
         first += blockDim.x * gridDim.x / lanes, i += blockDim.x * gridDim.x / lanes)
#define END(n) n
#define MATRIX const int *ptr, const int *col, const real *val
#define BAND (band{})
#endif

// band is what is known of the indices of a matrix.
struct band {
#ifdef PARTS
    long long slope;
    int early, late, below, above;

    __device__ int last(int i, int n) const { return min(i, n - 1); }
    // between bounds where one of the rows first to last begins, and column bounds a column of these rows.
    __device__ int between(int first, int last, int k) const
    {
        return min(max(k, (int)(first * slope >> 16) - early), (int)(last * slope >> 16) + late);
    }
    __device__ int column(int first, int last, int c) const { return max(min(c, last + above), first - below); }
#else
    __device__ int last(int i, int) const { return i; }
    __device__ int between(int, int, int k) const { return k; }
    __device__ int column(int, int, int c) const { return c; }
#endif
};

// Of a longer row each of its threads would do more than so many elements: the whole warp does it instead. Graphs have a
// few rows a thousand times as long as the others, for which all else would wait.
enum { LONG = 8 };

// elements is what a thread adds up of those from k to before end, which so many threads share. They are of rows first to last.
static __device__ real elements(const int *col, const real *val, band b, const real *x, int first, int last, int k, int end, int threads)
{
    real sum = 0;
    k = b.between(first, last, k);
    end = b.between(first + 1, last + 1, end);
#pragma unroll 1 // four at a time take more registers than leave room for all warps
    for (k += threadIdx.x % threads; k < end; k += threads)
        sum += val[k] * x[b.column(first, last, col[k])];
    return sum;
}

// row is row i of the product, in the first of the threads that share it. first is the first row of the warp.
static __device__ real row(const int *ptr, const int *col, const real *val, band b, const real *x, int lanes, int first, int i, int n)
{
    int k = 0, end = 0;
    if (i < n) {
        k = ptr[i];
        end = ptr[i + 1];
    }
    const bool together = end - k > LONG * lanes;
    real sum = together ? (real)0 : elements(col, val, b, x, b.last(i, n), b.last(i, n), k, end, lanes);
    for (int d = lanes / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d, lanes);
    for (unsigned rest = __ballot_sync(0xffffffffu, together && threadIdx.x % lanes == 0); rest > 0; rest &= rest - 1) {
        const int lane = __ffs(rest) - 1; // the first of the threads that share a row
        real part = elements(col, val, b, x, first, b.last(first + 32 / lanes - 1, n), __shfl_sync(0xffffffffu, k, lane), __shfl_sync(0xffffffffu, end, lane), 32);
        for (int d = 1; d < 32; d *= 2)
            part += __shfl_xor_sync(0xffffffffu, part, d);
        if (threadIdx.x % 32 == lane)
            sum = part;
    }
    return sum;
}
