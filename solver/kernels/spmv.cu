// spmv: products of a sparse matrix in compressed rows with a vector. Each row is shared by lanes
// neighbouring threads, a power of two from 1 (a thread for each row, for rows of a few entries)
// to 32 (a warp for each, for long ones).
// Launch: one dimension, whole warps, since the shuffles name all 32 lanes.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
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

// spmv: y = A x.
extern "C" __global__ void spmv(const int *ptr, const int *col, const real *val, const real *x, real *y, int lanes, int n)
{
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, x, lanes, i, n);
        if (i < n && threadIdx.x % lanes == 0)
            y[i] = v;
    }
}

// spmv_dot: y = A x, and the sum of w[i] * y[i].
extern "C" __global__ void spmv_dot(const int *ptr, const int *col, const real *val, const real *x, const real *w, real *y, real *partial,
                                    int lanes, int n)
{
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, x, lanes, i, n);
        if (i < n && threadIdx.x % lanes == 0) {
            y[i] = v;
            sum += v * w[i];
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

// spmv_dots: y = A x, the sum of y[i] * y[i], and that of w[i] * y[i].
extern "C" __global__ void spmv_dots(const int *ptr, const int *col, const real *val, const real *x, const real *w, real *y, real *partial,
                                     int lanes, int n)
{
    real norm = 0, sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, x, lanes, i, n);
        if (i < n && threadIdx.x % lanes == 0) {
            y[i] = v;
            norm += v * v;
            sum += v * w[i];
        }
    }
    norm = block_sum(norm);
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = norm;
        partial[gridDim.x + blockIdx.x] = sum;
    }
}

// residual: r = b - A x, and the sum of r[i] * r[i].
extern "C" __global__ void residual(const int *ptr, const int *col, const real *val, const real *x, const real *b, real *r, real *partial,
                                    int lanes, int n)
{
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, x, lanes, i, n);
        if (i < n && threadIdx.x % lanes == 0) {
            const real d = b[i] - v;
            r[i] = d;
            sum += d * d;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

// relax: x[i] += a d[i] (b[i] - row i of A x) for the n rows i in order, of which none depends
// on another.
extern "C" __global__ void relax(const int *ptr, const int *col, const real *val, const int *order, const real *b, const real *d,
                                 const real *a, real *x, int lanes, int n)
{
    const real s = *a;
    EACH_ROW(k, lanes, n) {
        const int i = k < n ? order[k] : 0;
        const real v = row(ptr, col, val, x, lanes, i, k < n ? i + 1 : 0);
        if (k < n && threadIdx.x % lanes == 0)
            x[i] += s * d[i] * (b[i] - v);
    }
}
