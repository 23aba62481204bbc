// spmv: products of a sparse matrix in compressed rows with a vector; rows.cuh says what lanes are.
// Launch: one dimension, whole warps, since the shuffles name all 32 lanes.
// build f32: -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts: -DPARTS -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
// build parts.f32: -DPARTS -DREAL=float -arch=compute_52 -prec-div=true -prec-sqrt=true -ftz=false -fmad=true
#include "rows.cuh"

// spmv: y = A x.
extern "C" __global__ void spmv(MATRIX, const real *x, real *y, int lanes, int n)
{
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0)
            y[i] = v;
    }
}

// spmv_dot: y = A x, and the sum of w[i] * y[i].
extern "C" __global__ void spmv_dot(MATRIX, const real *x, const real *w, real *y, real *partial, int lanes, int n)
{
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0) {
            y[i] = v;
            sum += v * w[i];
        }
    }
    leave(sum, partial);
}

// spmv_dots: y = A x, the sum of y[i] * y[i], and that of w[i] * y[i].
extern "C" __global__ void spmv_dots(MATRIX, const real *x, const real *w, real *y, real *norms, real *partial, int lanes,
                                     int n)
{
    real norm = 0, sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0) {
            y[i] = v;
            norm += v * v;
            sum += v * w[i];
        }
    }
    leave(norm, sum, norms, partial);
}

// residual: r = b - A x, and the sum of r[i] * r[i].
extern "C" __global__ void residual(MATRIX, const real *x, const real *b, real *r, real *partial, int lanes, int n)
{
    real sum = 0;
    EACH_ROW(i, lanes, n) {
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, END(n));
        if (i < END(n) && threadIdx.x % lanes == 0) {
            const real d = b[i] - v;
            r[i] = d;
            sum += d * d;
        }
    }
    leave(sum, partial);
}

#ifndef PARTS // rows of one colour are anywhere in x
// relax: x[i] += a d[i] (b[i] - row i of A x) for the n rows i in order, of which none depends
// on another.
extern "C" __global__ void relax(const int *ptr, const int *col, const real *val, const int *order, const real *b, const real *d,
                                 const real *a, real *x, int lanes, int n)
{
    const real s = *a;
    EACH_ROW(k, lanes, n) {
        const int i = k < n ? order[k] : 0;
        const real v = row(ptr, col, val, BAND, x, lanes, first, i, k < n ? i + 1 : 0);
        if (k < n && threadIdx.x % lanes == 0)
            x[i] = moved(s, x[i], x[i] + s * d[i] * (b[i] - v));
    }
}
#endif
