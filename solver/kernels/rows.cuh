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

// row is row i of the product, in the first of the threads that share it.
static __device__ real row(const int *ptr, const int *col, const real *val, const real *x, int lanes, int i, int n)
{
    real sum = 0;
    if (i < n)
        for (int k = ptr[i] + threadIdx.x % lanes; k < ptr[i + 1]; k += lanes)
            sum += val[k] * x[col[k]];
    for (int d = lanes / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d, lanes);
    return sum;
}
